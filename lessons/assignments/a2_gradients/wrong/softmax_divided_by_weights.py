"""A division by the weights is NaN where a mask made them zero."""

import numpy as np

HINTS = {
    "question": "What is 0 / 0?",
    "concept": "grad - mean can be had without any division.",
    "place": "In softmax_backward, do not divide by the weights.",
}
LOSES = ("softmax_backward.masked", "softmax_backward.empty_rows", "softmax_backward.saturated")


def softmax_backward(grad, weights):
    product = grad * weights
    return weights * (product / weights - np.sum(product, axis=-1, keepdims=True))
