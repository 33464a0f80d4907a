"""The gradient from above is overwritten: it belongs to the caller, who may still need it."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "What does the caller's grad hold after your function?",
    "concept": "An operator like *= writes into its argument.",
    "place": "In scores_backward, find the line that writes into grad and make a new array.",
}
LOSES = ("scores_backward.*",)


def scores_backward(grad, query, key):
    grad_query = grad @ key
    grad_key = np.swapaxes(grad, -1, -2) @ query
    grad *= 2
    return to_shape(grad_query, query.shape), to_shape(grad_key, key.shape)
