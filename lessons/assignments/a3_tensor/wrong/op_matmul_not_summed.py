"""A matrix that serves a whole batch gets a gradient for each of its items; they have to be added up."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Which shape has the matrix, and which one its gradient?",
    "concept": "Axes in front broadcast too, and a gradient has the shape of its input.",
    "place": "In matmul, pass both gradients through sum_to_shape.",
}
LOSES = ("broadcasting.matmul", "attention.shared")


def matmul(a, b):
    def vjp(grad):
        return grad @ np.swapaxes(b.data, -1, -2), np.swapaxes(a.data, -1, -2) @ grad

    return Tensor(a.data @ b.data, (a, b), vjp)
