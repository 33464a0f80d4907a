"""The sums are right, but axes of size 1 are gone from the shape."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Which shape has the key, and which one your gradient?",
    "concept": "A gradient has the shape of its input, axes of size 1 included.",
    "place": "In scores_backward, use keepdims=True, or reshape at the end.",
}
LOSES = ("scores_backward.shapes", "scores_backward.shared")


def scores_backward(grad, query, key):
    grad_query = grad @ key
    grad_key = np.swapaxes(grad, -1, -2) @ query
    return tuple(np.squeeze(to_shape(g, x.shape)) for g, x in ((grad_query, query), (grad_key, key)))
