"""Both gradients have the wrong sign: a gradient points uphill."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Does the score grow or shrink when the query moves along the key?",
    "concept": "A gradient tells how the loss grows; only the step of gradient descent has a minus.",
    "place": "In scores_backward, remove the minus.",
}
LOSES = ("scores_backward.*",)


def scores_backward(grad, query, key):
    grad_query = -(grad @ key)
    grad_key = -np.swapaxes(grad, -1, -2) @ query
    return to_shape(grad_query, query.shape), to_shape(grad_key, key.shape)
