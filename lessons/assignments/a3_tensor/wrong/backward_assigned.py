"""A node's gradient is overwritten by each use; gradients of several uses add up."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "x * x uses x twice: what is the derivative?",
    "concept": "Gradients of several uses add up.",
    "place": "In backward, add each part to what has arrived already.",
}
LOSES = (
    "backward.reuse",
    "backward.reuse_hidden",
    "backward.apart",
    "backward.order",
    "backward.random",
    "backward.twins",
    "backward.paths",
    "backward.again",
    "backward.parts",
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
                arrived[id(source)] = part
