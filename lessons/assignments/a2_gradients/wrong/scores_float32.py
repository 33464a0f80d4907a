"""The gradients are float32 although the inputs are float64."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "What is the dtype of your result, and what was that of the inputs?",
    "concept": "A gradient keeps the precision of its inputs.",
    "place": "In scores_backward, remove the conversion to float32.",
}
LOSES = ("scores_backward.values", "scores_backward.batch", "scores_backward.shapes", "scores_backward.shared")


def scores_backward(grad, query, key):
    grad_query = (grad @ key).astype(np.float32)
    grad_key = (np.swapaxes(grad, -1, -2) @ query).astype(np.float32)
    return to_shape(grad_query, query.shape), to_shape(grad_key, key.shape)
