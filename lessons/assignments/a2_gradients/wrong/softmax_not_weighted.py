"""The difference is not multiplied by the weights."""

import numpy as np

HINTS = {
    "question": "How much can a score of weight 0 change the loss?",
    "concept": "d weight_i / d score_j = weight_i (1 if i = j else 0) - weight_i weight_j: every term holds a weight.",
    "place": "In softmax_backward, multiply the difference by the weights.",
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
    return grad - np.sum(grad * weights, axis=-1, keepdims=True)
