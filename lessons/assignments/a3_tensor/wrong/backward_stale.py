"""Inner nodes keep their gradient from the first backward, and the second one adds to it."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "What do the inner nodes hold when backward starts for the second time?",
    "concept": "Only leaves gather over several calls; inner nodes start from nothing each time.",
    "place": "In backward, clear the gradients of inner nodes first, or keep them in a dict.",
}
LOSES = ("backward.again", "backward.parts")


class Tensor(Tensor):
    def backward(self, grad=None):
        if grad is None:
            if self.data.size != 1:
                raise ValueError("several elements")
            grad = np.ones_like(self.data)
        order = inputs_first(self)
        self.grad = np.array(grad) if self.grad is None else self.grad + grad
        for node in reversed(order):
            if node.vjp is not None:
                for source, part in zip(node.inputs, node.vjp(node.grad), strict=True):
                    source.grad = np.array(part) if source.grad is None else source.grad + part
