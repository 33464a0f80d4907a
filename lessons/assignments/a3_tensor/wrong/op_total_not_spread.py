"""The gradient of a sum keeps the shape of the sum: every term has to get it."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Which shape has the input of the sum?",
    "concept": "Every term of a sum has the derivative 1: each gets the gradient of the sum.",
    "place": "In total, repeat grad to the shape of the input.",
}
LOSES = ("operation.total", "operation.total_kept")


def total(a, axis=None, keepdims=False):
    return Tensor(np.sum(a.data, axis=axis, keepdims=keepdims), (a,), lambda grad: (grad * 1,))
