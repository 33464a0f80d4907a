"""The graph is taken apart after the first backward."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "May a loss be walked twice?",
    "concept": "Here a graph stays as it is, and may be walked again or become part of another.",
    "place": "In backward, do not change inputs or vjp.",
}
LOSES = ("backward.again", "backward.parts")


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
                arrived[id(source)] = part if known is None else known + part
        for node in inputs_first(self):
            if node.vjp is not None:
                node.inputs, node.vjp = (), lambda grad: ()
