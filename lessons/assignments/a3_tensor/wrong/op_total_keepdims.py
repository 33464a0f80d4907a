"""Without the summed axis, grad lines up with the wrong axis when it is repeated."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "With which axis of (2, 3) does an array of shape (2,) line up?",
    "concept": "Broadcasting lines shapes up at their last axis; put the summed axis back first.",
    "place": "In total, use np.expand_dims(grad, axis) unless keepdims.",
}
LOSES = ("operation.total",)


def total(a, axis=None, keepdims=False):
    def vjp(grad):
        return (np.broadcast_to(grad, a.data.shape),)

    return Tensor(np.sum(a.data, axis=axis, keepdims=keepdims), (a,), vjp)
