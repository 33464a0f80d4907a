"""The weighted mean is taken over the whole table; every row has its own."""

import numpy as np

HINTS = {
    "question": "Can one query's weights change another query's gradient?",
    "concept": "Each row is a softmax of its own.",
    "place": "In softmax_backward, sum along axis -1 with keepdims=True.",
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
    return weights * (grad - np.sum(grad * weights))
