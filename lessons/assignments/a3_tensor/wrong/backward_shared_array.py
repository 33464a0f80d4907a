"""Parts are added in place to an array that another node holds too."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "The vjp of a sum hands the same array to both terms: what happens to the one if += changes the other?",
    "concept": "Two names may stand for one array; x += y changes it under both.",
    "place": "In backward, make a new array: known + part, not known += part.",
}
LOSES = (
    "backward.again",
    "backward.apart",
    "backward.order",
    "backward.parts",
    "backward.paths",
    "backward.reuse",
    "backward.reuse_hidden",
    "backward.without_grad",
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
                if known is None:
                    arrived[id(source)] = part
                else:
                    known += part
