"""Every term gets a 1, whatever comes from above."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "What happens to your result if grad is doubled?",
    "concept": "A vjp multiplies grad by the derivative.",
    "place": "In total, repeat grad, not ones.",
}
LOSES = ("operation.total", "operation.total_kept", "attention.*")


def total(a, axis=None, keepdims=False):
    return Tensor(np.sum(a.data, axis=axis, keepdims=keepdims), (a,), lambda grad: (np.ones(a.data.shape),))
