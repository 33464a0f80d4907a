"""The gradient of a shared input is averaged; gradients of several uses add up."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "If one key serves two sequences, is its gradient their mean or their sum?",
    "concept": "Gradients of several uses add up.",
    "place": "In scores_backward, use a sum over the repeated axes, not a mean.",
}
LOSES = ("scores_backward.shared",)


def scores_backward(grad, query, key):
    grad_query = grad @ key
    grad_key = np.swapaxes(grad, -1, -2) @ query
    return tuple(to_shape(g, x.shape) * (x.size / g.size) for g, x in ((grad_query, query), (grad_key, key)))
