"""The inputs that are remembered are new Tensors with the same data: the graph is cut there."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Is Tensor(a.data) the same node as a?",
    "concept": "backward reaches the nodes that are remembered, not others with the same numbers.",
    "place": "In matmul, remember a and b themselves.",
}
LOSES = ("operation.matmul", "broadcasting.matmul", "attention.*")


def matmul(a, b):
    def vjp(grad):
        by_a, by_b = grad @ np.swapaxes(b.data, -1, -2), np.swapaxes(a.data, -1, -2) @ grad
        return sum_to_shape(by_a, a.data.shape), sum_to_shape(by_b, b.data.shape)

    return Tensor(a.data @ b.data, (Tensor(a.data), Tensor(b.data)), vjp)
