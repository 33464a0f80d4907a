"""The weighted mean is taken over the queries; a softmax works along the keys."""

import numpy as np

HINTS = {
    "question": "Along which axis do the weights sum to one?",
    "concept": "Each query has a softmax of its own: sums run along its row, the last axis.",
    "place": "In softmax_backward, sum along axis -1.",
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
    return weights * (grad - np.sum(grad * weights, axis=-2, keepdims=True))
