"""The weights are multiplied in once too often."""

import numpy as np

HINTS = {
    "question": "How many weights does the term without the sum hold?",
    "concept": "weight_j (grad_j - sum over i of grad_i weight_i).",
    "place": "In softmax_backward, subtract the row sum from grad, not from grad * weights.",
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
    return weights * (grad * weights - np.sum(grad * weights, axis=-1, keepdims=True))
