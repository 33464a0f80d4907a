"""The gradient of the weights is zero: they are treated as constants, and nothing would ever learn where to look."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Does the output change when a weight does?",
    "concept": "Every factor of a product has a gradient.",
    "place": "In weighted_sum_backward, the gradient of the weights is grad times the values transposed.",
}
LOSES = ("weighted_sum_backward.*",)


def weighted_sum_backward(grad, weights, value):
    grad_weights = np.zeros_like(weights)
    grad_value = np.swapaxes(weights, -1, -2) @ grad
    return to_shape(grad_weights, weights.shape), to_shape(grad_value, value.shape)
