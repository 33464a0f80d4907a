"""The gradient is divided by the number of terms, as for a mean."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "By how much does a sum grow when one term grows by 1?",
    "concept": "Every term of a sum has the derivative 1.",
    "place": "In total, remove the division.",
}
LOSES = ("operation.total", "operation.total_kept", "attention.*")


def total(a, axis=None, keepdims=False):
    result = np.sum(a.data, axis=axis, keepdims=keepdims)

    def vjp(grad):
        if axis is not None and not keepdims:
            grad = np.expand_dims(grad, axis)
        return (np.broadcast_to(grad, a.data.shape) * result.size / a.data.size,)

    return Tensor(result, (a,), vjp)
