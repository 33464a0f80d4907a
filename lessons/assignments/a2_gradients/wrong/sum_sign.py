"""Both gradients have the wrong sign."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Does the output grow or shrink with a weight, if the value is positive?",
    "concept": "The derivative of a product by one factor is the other factor, without a minus.",
    "place": "In weighted_sum_backward, remove the minus.",
}
LOSES = ("weighted_sum_backward.*",)


def weighted_sum_backward(grad, weights, value):
    grad_weights = -grad @ np.swapaxes(value, -1, -2)
    grad_value = -np.swapaxes(weights, -1, -2) @ grad
    return to_shape(grad_weights, weights.shape), to_shape(grad_value, value.shape)
