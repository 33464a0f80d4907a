"""The factors stand on the wrong side: matrix products do not commute."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Which shapes have grad, a and b?",
    "concept": "For C = A B the gradients are dA = dC B^T and dB = A^T dC.",
    "place": "In matmul, keep the order: grad first for a, second for b.",
}
LOSES = ("operation.matmul", "broadcasting.matmul", "attention.*")


def matmul(a, b):
    def vjp(grad):
        by_a, by_b = np.swapaxes(b.data, -1, -2) @ grad, grad @ np.swapaxes(a.data, -1, -2)
        return sum_to_shape(by_a, a.data.shape), sum_to_shape(by_b, b.data.shape)

    return Tensor(a.data @ b.data, (a, b), vjp)
