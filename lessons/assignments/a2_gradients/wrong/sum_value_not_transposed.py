"""The values are not transposed: the gradient of a weight is the dot product of grad and a value."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Over which index is d loss / d weights[i, j] a sum?",
    "concept": "weights[i, j] multiplies value j: its gradient is grad[i] · value[j].",
    "place": "In weighted_sum_backward, the gradient of the weights should use the values transposed.",
}
LOSES = ("weighted_sum_backward.*",)


def weighted_sum_backward(grad, weights, value):
    grad_weights = grad @ value
    grad_value = np.swapaxes(weights, -1, -2) @ grad
    return to_shape(grad_weights, weights.shape), to_shape(grad_value, value.shape)
