"""The weights are divided by their sum again, which is 0 / 0 for a query that saw no key."""

import numpy as np

HINTS = {
    "question": "What is the sum of the weights of a query that saw no key?",
    "concept": "The weights come normalised, and a row of zeros stays zero.",
    "place": "In softmax_backward, use the weights as they are.",
}
LOSES = ("softmax_backward.empty_rows",)


def softmax_backward(grad, weights):
    weights = weights / np.sum(weights, axis=-1, keepdims=True)
    return weights * (grad - np.sum(grad * weights, axis=-1, keepdims=True))
