"""The row sum is subtracted without its factor: it has to be multiplied by each key's own weight."""

import numpy as np

HINTS = {
    "question": "Write the Jacobian's entry for i ≠ j: how many weights does it hold?",
    "concept": "d weight_i / d score_j = -weight_i weight_j: two weights.",
    "place": "In softmax_backward, multiply the row sum by the weights too.",
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
    return weights * grad - np.sum(grad * weights, axis=-1, keepdims=True)
