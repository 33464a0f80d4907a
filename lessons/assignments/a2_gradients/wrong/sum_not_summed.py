"""Values that serve several sequences get a gradient for each of them; they have to be added up."""

import numpy as np

HINTS = {
    "question": "Which shape have the values, and which one your gradient?",
    "concept": "Gradients of several uses add up: sum over the axes along which an input was repeated.",
    "place": "In weighted_sum_backward, sum over the axes that the values do not have, or have with size 1.",
}
LOSES = ("weighted_sum_backward.shared",)


def weighted_sum_backward(grad, weights, value):
    grad_weights = grad @ np.swapaxes(value, -1, -2)
    grad_value = np.swapaxes(weights, -1, -2) @ grad
    return grad_weights, grad_value
