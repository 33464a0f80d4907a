"""The gradient of the query is zero: the query is treated as a constant."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Does the score change when only the query moves?",
    "concept": "Every input of a product has a gradient.",
    "place": "In scores_backward, compute the gradient of the query like that of the key.",
}
LOSES = ("scores_backward.*",)


def scores_backward(grad, query, key):
    grad_query = np.zeros_like(query)
    grad_key = np.swapaxes(grad, -1, -2) @ query
    return to_shape(grad_query, query.shape), to_shape(grad_key, key.shape)
