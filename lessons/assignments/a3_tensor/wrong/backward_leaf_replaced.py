"""A second backward replaces the leaves' gradients; they have to gather."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Two losses share a weight: which gradient does it need?",
    "concept": "Leaves add up what every backward brings, until somebody clears them.",
    "place": "In backward, add to a leaf's grad unless it is None.",
}
LOSES = ("backward.again", "backward.leaf", "backward.parts")


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
                node.grad = np.array(whole)
                continue
            for source, part in zip(node.inputs, node.vjp(whole), strict=True):
                known = arrived.get(id(source))
                arrived[id(source)] = part if known is None else known + part
