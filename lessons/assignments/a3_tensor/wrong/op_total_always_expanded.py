"""The summed axis is put back also where keepdims had kept it."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Which shape has grad with keepdims=True?",
    "concept": "With keepdims the axis is still there, with size 1.",
    "place": "In total, use np.expand_dims only without keepdims.",
}
LOSES = ("operation.total_kept", "attention.*")


def total(a, axis=None, keepdims=False):
    def vjp(grad):
        if axis is not None:
            grad = np.expand_dims(grad, axis)
        return (np.broadcast_to(grad, a.data.shape),)

    return Tensor(np.sum(a.data, axis=axis, keepdims=keepdims), (a,), vjp)
