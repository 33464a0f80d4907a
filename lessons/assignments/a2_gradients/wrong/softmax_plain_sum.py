"""The plain sum of the row is subtracted, not the one weighted by the weights."""

import numpy as np

HINTS = {
    "question": "Does a key with weight 0 count in the sum?",
    "concept": "The row sum is sum(grad * weights).",
    "place": "In softmax_backward, multiply grad by the weights before summing.",
}
LOSES = (
    "softmax_backward.rows",
    "softmax_backward.batch",
    "softmax_backward.shapes",
    "softmax_backward.masked",
    "softmax_backward.empty_rows",
    "softmax_backward.constant",
    "softmax_backward.offset",
    "softmax_backward.saturated",
    "softmax_backward.float32",
)


def softmax_backward(grad, weights):
    return weights * (grad - np.sum(grad, axis=-1, keepdims=True))
