"""The gradients are divided by sqrt(d_k); that belongs to the step of scaling."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Which step divides by the square root of the width?",
    "concept": "Each step undoes itself only; the chain rule combines the steps.",
    "place": "In scores_backward, remove the division.",
}
LOSES = ("scores_backward.*",)


def scores_backward(grad, query, key):
    grad_query = grad @ key / key.shape[-1] ** 0.5
    grad_key = np.swapaxes(grad, -1, -2) @ query / key.shape[-1] ** 0.5
    return to_shape(grad_query, query.shape), to_shape(grad_key, key.shape)
