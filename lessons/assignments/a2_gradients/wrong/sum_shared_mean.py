"""The gradient of shared values is averaged; gradients of several uses add up."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "If one value serves two sequences, is its gradient their mean or their sum?",
    "concept": "Gradients of several uses add up.",
    "place": "In weighted_sum_backward, use a sum over the repeated axes, not a mean.",
}
LOSES = ("weighted_sum_backward.shared",)


def weighted_sum_backward(grad, weights, value):
    grad_weights = grad @ np.swapaxes(value, -1, -2)
    grad_value = np.swapaxes(weights, -1, -2) @ grad
    return grad_weights, to_shape(grad_value, value.shape) * (value.size / grad_value.size)
