"""Each factor gets itself as its derivative: d(q·k)/dq is k, not q."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "What is the derivative of q times k by q?",
    "concept": "In a product, the derivative by one factor is the other factor.",
    "place": "In scores_backward, query and key have changed places.",
}
LOSES = ("scores_backward.*",)


def scores_backward(grad, query, key):
    grad_query = grad @ query
    grad_key = np.swapaxes(grad, -1, -2) @ key
    return to_shape(grad_query, query.shape), to_shape(grad_key, key.shape)
