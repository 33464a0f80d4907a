"""The nodes are visited leaves first; the gradient starts at the end."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Whose gradient is known at the start?",
    "concept": "Forward goes from the leaves to the end, backward the other way round.",
    "place": "In backward, reverse the order of the nodes.",
}
LOSES = (
    "backward.again",
    "backward.apart",
    "backward.chain",
    "backward.deep",
    "backward.order",
    "backward.parts",
    "backward.paths",
    "backward.random",
    "backward.reuse",
    "backward.reuse_hidden",
    "backward.twins",
    "backward.without_grad",
    "attention.*",
)


class Tensor(Tensor):
    def backward(self, grad=None):
        if grad is None:
            if self.data.size != 1:
                raise ValueError("several elements")
            grad = np.ones_like(self.data)
        arrived = {id(self): grad}
        for node in inputs_first(self):
            whole = arrived.pop(id(node), np.zeros_like(node.data))
            if node.vjp is None:
                node.grad = np.array(whole) if node.grad is None else node.grad + whole
                continue
            for source, part in zip(node.inputs, node.vjp(whole), strict=True):
                known = arrived.get(id(source))
                arrived[id(source)] = part if known is None else known + part
