"""The gradients are averaged over the batch; the loss adds its sequences up."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Does the gradient of one sequence depend on how many others there are?",
    "concept": "Sequences of a batch do not mix: each has its own gradient.",
    "place": "In scores_backward, remove the division by the size of the batch.",
}
LOSES = ("scores_backward.batch", "scores_backward.shapes", "scores_backward.shared", "scores_backward.float32")


def scores_backward(grad, query, key):
    grad_query = grad @ key / (grad.shape[0] if grad.ndim > 2 else 1)
    grad_key = np.swapaxes(grad, -1, -2) @ query / (grad.shape[0] if grad.ndim > 2 else 1)
    return to_shape(grad_query, query.shape), to_shape(grad_key, key.shape)
