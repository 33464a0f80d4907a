"""Only the first factor of a product gets a gradient."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Does ab change when only b moves?",
    "concept": "Both factors have a gradient.",
    "place": "In multiply, give b the gradient grad * a.",
}
LOSES = ("operation.multiply", "broadcasting.multiply")


def multiply(a, b):
    def vjp(grad):
        by_a, by_b = grad * b.data, np.zeros(np.shape(grad))
        return sum_to_shape(by_a, a.data.shape), sum_to_shape(by_b, b.data.shape)

    return Tensor(a.data * b.data, (a, b), vjp)
