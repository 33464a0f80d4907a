"""The sign is wrong: the weighted mean minus grad, instead of grad minus the weighted mean."""

import numpy as np

HINTS = {
    "question": "Should a score rise whose weight ought to rise?",
    "concept": "A larger grad than the row's mean makes a positive gradient.",
    "place": "In softmax_backward, swap the two terms of the difference.",
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
    return weights * (np.sum(grad * weights, axis=-1, keepdims=True) - grad)
