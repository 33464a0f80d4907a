"""backward() without a gradient does not work for a single element."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "With which gradient does a loss start?",
    "concept": "d loss / d loss is 1.",
    "place": "In backward, take ones for grad=None if there is one element.",
}
LOSES = ("backward.without_grad",)


class Tensor(Tensor):
    def backward(self, grad=None):
        if grad is None:
            raise ValueError("no gradient")
        arrived = {id(self): grad}
        for node in reversed(inputs_first(self)):
            whole = arrived.pop(id(node))
            if node.vjp is None:
                node.grad = np.array(whole) if node.grad is None else node.grad + whole
                continue
            for source, part in zip(node.inputs, node.vjp(whole), strict=True):
                known = arrived.get(id(source))
                arrived[id(source)] = part if known is None else known + part
