"""The gradient from above is not used: the derivatives are right, but the chain rule is not applied."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "What happens to your result if grad is doubled?",
    "concept": "A vjp multiplies grad by the derivative.",
    "place": "In multiply, multiply both by grad.",
}
LOSES = ("operation.multiply", "broadcasting.multiply")


def multiply(a, b):
    def vjp(grad):
        by_a, by_b = np.ones(np.shape(grad)) * b.data, np.ones(np.shape(grad)) * a.data
        return sum_to_shape(by_a, a.data.shape), sum_to_shape(by_b, b.data.shape)

    return Tensor(a.data * b.data, (a, b), vjp)
