"""A leaf's grad is the very array that came from above; what happens to it happens to others."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "The vjp of a sum hands the same array to both terms: how many arrays do the two leaves hold?",
    "concept": "Each leaf needs an array of its own.",
    "place": "In backward, copy the gradient when a leaf gets it for the first time.",
}
LOSES = ("backward.apart",)


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
                node.grad = whole if node.grad is None else node.grad + whole
                continue
            for source, part in zip(node.inputs, node.vjp(whole), strict=True):
                known = arrived.get(id(source))
                arrived[id(source)] = part if known is None else known + part
