"""The gradient of the weights is multiplied by the weights: that belongs to the softmax."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Which step multiplies by the weights on the way back to the scores?",
    "concept": "Each step does its own part only.",
    "place": "In weighted_sum_backward, remove the factor from the gradient of the weights.",
}
LOSES = ("weighted_sum_backward.*",)


def weighted_sum_backward(grad, weights, value):
    grad_weights = weights * (grad @ np.swapaxes(value, -1, -2))
    grad_value = np.swapaxes(weights, -1, -2) @ grad
    return to_shape(grad_weights, weights.shape), to_shape(grad_value, value.shape)
