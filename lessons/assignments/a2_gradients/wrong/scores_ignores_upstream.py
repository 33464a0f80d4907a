"""The gradient from above is not used: the result is the derivative of the plain sum of the scores."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "What happens to your result if grad is doubled?",
    "concept": "The chain rule multiplies by the gradient that comes from above.",
    "place": "In scores_backward, grad itself has to enter both products.",
}
LOSES = ("scores_backward.*",)


def scores_backward(grad, query, key):
    grad_query = np.ones_like(grad) @ key
    grad_key = np.swapaxes(np.ones_like(grad), -1, -2) @ query
    return to_shape(grad_query, query.shape), to_shape(grad_key, key.shape)
