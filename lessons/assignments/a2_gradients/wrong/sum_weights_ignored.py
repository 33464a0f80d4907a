"""Every value gets the sum of grad: the weights of the forward step are forgotten."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Should a value with weight 0 get a gradient?",
    "concept": "The values' gradient is weighted by the same weights as the values.",
    "place": "In weighted_sum_backward, multiply by the weights transposed.",
}
LOSES = ("weighted_sum_backward.*",)


def weighted_sum_backward(grad, weights, value):
    grad_weights = grad @ np.swapaxes(value, -1, -2)
    grad_value = np.swapaxes(np.ones_like(weights), -1, -2) @ grad
    return to_shape(grad_weights, weights.shape), to_shape(grad_value, value.shape)
