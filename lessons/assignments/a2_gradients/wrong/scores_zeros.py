"""Both gradients are zero: nothing arrives from above."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Can all gradients be zero if the scores change?",
    "concept": "The gradient of a matrix product holds two matrix products.",
    "place": "In scores_backward, return the two products.",
}
LOSES = ("scores_backward.*",)


def scores_backward(grad, query, key):
    grad_query = np.zeros_like(query)
    grad_key = np.zeros_like(key)
    return to_shape(grad_query, query.shape), to_shape(grad_key, key.shape)
