"""The parts of several uses are averaged; they add up."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "x + x: what is the derivative?",
    "concept": "Gradients of several uses add up.",
    "place": "In backward, add the parts up.",
}
LOSES = (
    "backward.again",
    "backward.apart",
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
        for node in reversed(inputs_first(self)):
            whole = arrived.pop(id(node))
            if node.vjp is None:
                node.grad = np.array(whole) if node.grad is None else node.grad + whole
                continue
            for source, part in zip(node.inputs, node.vjp(whole), strict=True):
                known = arrived.get(id(source))
                arrived[id(source)] = part if known is None else (known + part) / 2
