"""The gradient of the key is averaged over the queries; the contributions of several uses add up."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "A key is used twice instead of once: what happens to its gradient?",
    "concept": "Gradients of several uses add up; nothing divides by their number.",
    "place": "In scores_backward, remove the division from the gradient of the key.",
}
LOSES = (
    "scores_backward.values",
    "scores_backward.batch",
    "scores_backward.shapes",
    "scores_backward.shared",
    "scores_backward.float32",
)


def scores_backward(grad, query, key):
    grad_query = grad @ key
    grad_key = np.swapaxes(grad, -1, -2) @ query / query.shape[-2]
    return to_shape(grad_query, query.shape), to_shape(grad_key, key.shape)
