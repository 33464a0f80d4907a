"""The gradient of the values is zero: they are treated as constants."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Does the output change when a value does?",
    "concept": "Every factor of a product has a gradient.",
    "place": "In weighted_sum_backward, the gradient of the values is the weights transposed times grad.",
}
LOSES = ("weighted_sum_backward.*",)


def weighted_sum_backward(grad, weights, value):
    grad_weights = grad @ np.swapaxes(value, -1, -2)
    grad_value = np.zeros_like(value)
    return to_shape(grad_weights, weights.shape), to_shape(grad_value, value.shape)
