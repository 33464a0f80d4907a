"""The result is zero: that is so for a gradient that is the same for all keys, and for no other."""

import numpy as np

HINTS = {
    "question": "Does the output change when one weight grows and another shrinks?",
    "concept": "The weights' sum is constant, but the weights are not.",
    "place": "In softmax_backward, use weights * (grad - sum(grad * weights)).",
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
    return np.zeros_like(grad)
