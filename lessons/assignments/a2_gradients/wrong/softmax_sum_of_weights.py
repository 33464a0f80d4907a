"""The sum of the weights is subtracted: it is always 1 and knows nothing of grad."""

import numpy as np

HINTS = {
    "question": "What does the sum that you subtract depend on?",
    "concept": "The row sum is sum(grad * weights).",
    "place": "In softmax_backward, multiply by grad inside the sum.",
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
    return weights * (grad - np.sum(weights, axis=-1, keepdims=True))
