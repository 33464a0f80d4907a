"""Only the first term of a sum gets a gradient."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Does a + b change when only b moves?",
    "concept": "Both terms of a sum have the derivative 1.",
    "place": "In add, pass grad on to both inputs.",
}
LOSES = ("operation.add", "broadcasting.small", "broadcasting.add")


def add(a, b):
    def vjp(grad):
        by_a, by_b = grad, np.zeros(np.shape(grad))
        return sum_to_shape(by_a, a.data.shape), sum_to_shape(by_b, b.data.shape)

    return Tensor(a.data + b.data, (a, b), vjp)
