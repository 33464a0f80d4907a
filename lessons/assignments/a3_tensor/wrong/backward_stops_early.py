"""Only the direct inputs get their gradients; the walk has to go on to the leaves."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "What happens to the inputs of the inputs?",
    "concept": "The chain rule goes on from node to node until it reaches leaves.",
    "place": "In backward, visit all nodes that lead to the end.",
}
LOSES = (
    "backward.again",
    "backward.apart",
    "backward.chain",
    "backward.deep",
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
        for source, part in zip(self.inputs, () if self.vjp is None else self.vjp(grad), strict=True):
            source.grad = np.array(part) if source.grad is None else source.grad + part
        if self.vjp is None:
            self.grad = np.array(grad) if self.grad is None else self.grad + grad
