"""The difference is multiplied by 1 - weights instead of by the weights."""

import numpy as np

HINTS = {
    "question": "How much can a score of weight 0 change the loss?",
    "concept": "The Jacobian's entries vanish with the weight.",
    "place": "In softmax_backward, multiply by the weights.",
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
    return (1 - weights) * (grad - np.sum(grad * weights, axis=-1, keepdims=True))
