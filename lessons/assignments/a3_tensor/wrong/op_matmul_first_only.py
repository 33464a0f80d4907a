"""Only the first factor of a matrix product gets a gradient."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Does the product change when only the second factor moves?",
    "concept": "For C = A B the gradients are dA = dC B^T and dB = A^T dC.",
    "place": "In matmul, give b the gradient A^T grad.",
}
LOSES = ("operation.matmul", "broadcasting.matmul", "attention.*")


def matmul(a, b):
    def vjp(grad):
        by_a, by_b = grad @ np.swapaxes(b.data, -1, -2), np.zeros(b.data.shape)
        return sum_to_shape(by_a, a.data.shape), sum_to_shape(by_b, b.data.shape)

    return Tensor(a.data @ b.data, (a, b), vjp)
