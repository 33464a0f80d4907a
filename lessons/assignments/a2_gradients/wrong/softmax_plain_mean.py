"""The plain mean of the row is subtracted, not the one weighted by the weights."""

import numpy as np

HINTS = {
    "question": "Does a key with weight 0 count in the mean?",
    "concept": "The row sum is sum(grad * weights).",
    "place": "In softmax_backward, replace the mean by the sum of grad * weights.",
}
LOSES = (
    "softmax_backward.rows",
    "softmax_backward.batch",
    "softmax_backward.shapes",
    "softmax_backward.masked",
    "softmax_backward.empty_rows",
    "softmax_backward.offset",
    "softmax_backward.saturated",
    "softmax_backward.float32",
)


def softmax_backward(grad, weights):
    return weights * (grad - np.mean(grad, axis=-1, keepdims=True))
