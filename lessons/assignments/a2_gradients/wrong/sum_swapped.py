"""The two gradients are returned in the wrong order: first the one of the weights, then the one of the values."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Which shape has the gradient of the weights?",
    "concept": "A gradient has the shape of what it is the gradient of.",
    "place": "In weighted_sum_backward, look at the order of the two results.",
}
LOSES = ("weighted_sum_backward.*",)


def weighted_sum_backward(grad, weights, value):
    grad_weights = grad @ np.swapaxes(value, -1, -2)
    grad_value = np.swapaxes(weights, -1, -2) @ grad
    return to_shape(grad_value, value.shape), to_shape(grad_weights, weights.shape)
