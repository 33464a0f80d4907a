"""The result is divided by the number of rows; the loss adds them up."""

import numpy as np

HINTS = {
    "question": "Does the gradient of one query depend on how many others there are?",
    "concept": "Rows do not mix: each has its own gradient.",
    "place": "In softmax_backward, remove the division.",
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
    result = weights * (grad - np.sum(grad * weights, axis=-1, keepdims=True))
    return result / grad.shape[-2]
