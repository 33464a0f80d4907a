"""The row sum is added; raising one score lowers the other weights, so it has to be subtracted."""

import numpy as np

HINTS = {
    "question": "Which sign has d weight_i / d score_j for two different keys?",
    "concept": "The weights of a row share a whole.",
    "place": "In softmax_backward, subtract the row sum.",
}
LOSES = (
    "softmax_backward.rows",
    "softmax_backward.batch",
    "softmax_backward.shapes",
    "softmax_backward.one_key",
    "softmax_backward.masked",
    "softmax_backward.empty_rows",
    "softmax_backward.constant",
    "softmax_backward.offset",
    "softmax_backward.saturated",
    "softmax_backward.float32",
)


def softmax_backward(grad, weights):
    return weights * (grad + np.sum(grad * weights, axis=-1, keepdims=True))
