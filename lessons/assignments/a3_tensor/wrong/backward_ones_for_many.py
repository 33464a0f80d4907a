"""backward() without a gradient takes ones also for several elements, and nobody learns that a sum was meant."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Which loss is meant by backward() of an array?",
    "concept": "Only a single element has a gradient of its own, which is 1; for more, ValueError is asked for.",
    "place": "In backward, raise ValueError for grad=None and several elements.",
}
LOSES = ("backward.refused",)


class Tensor(Tensor):
    def backward(self, grad=None):
        if grad is None:
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
