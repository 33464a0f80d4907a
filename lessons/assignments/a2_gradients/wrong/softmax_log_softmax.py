"""This is the gradient of the logarithm of the softmax."""

import numpy as np

HINTS = {
    "question": "Which function has the gradient grad - weights * sum(grad)?",
    "concept": "log-softmax and softmax have different gradients.",
    "place": "In softmax_backward, use weights * (grad - sum(grad * weights)).",
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
    return grad - weights * np.sum(grad, axis=-1, keepdims=True)
