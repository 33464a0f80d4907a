"""backward from a leaf leaves no gradient on it."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "What is d x / d x?",
    "concept": "A leaf's gradient by itself is what comes from above.",
    "place": "In backward, treat the end like any other node: it may be a leaf.",
}
LOSES = ("backward.leaf",)


class Tensor(Tensor):
    def backward(self, grad=None):
        if self.vjp is None:
            return
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
                arrived[id(source)] = part if known is None else known + part
