"""The two gradients are returned in the wrong order: first the one of query, then the one of key."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Which shape has the gradient of the query?",
    "concept": "A gradient has the shape of what it is the gradient of.",
    "place": "In scores_backward, look at the order of the two results.",
}
LOSES = ("scores_backward.*",)


def scores_backward(grad, query, key):
    grad_query = grad @ key
    grad_key = np.swapaxes(grad, -1, -2) @ query
    return to_shape(grad_key, key.shape), to_shape(grad_query, query.shape)
