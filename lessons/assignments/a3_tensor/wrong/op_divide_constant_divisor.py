"""The divisor gets no gradient: the sum in the softmax depends on the scores too."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Does a/b change when only b moves?",
    "concept": "Both inputs of a quotient have a gradient.",
    "place": "In divide, the second gradient is -grad * a / b^2.",
}
LOSES = ("operation.divide", "broadcasting.divide", "attention.*")


def divide(a, b):
    def vjp(grad):
        by_a, by_b = grad / b.data, np.zeros(np.shape(grad))
        return sum_to_shape(by_a, a.data.shape), sum_to_shape(by_b, b.data.shape)

    return Tensor(a.data / b.data, (a, b), vjp)
