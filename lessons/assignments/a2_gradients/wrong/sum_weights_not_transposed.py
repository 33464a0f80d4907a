"""The weights are not transposed: a value's gradient sums over the queries that use it."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Over which index is d loss / d value[j] a sum?",
    "concept": "Value j enters the output of every query i with weights[i, j]: a sum over i.",
    "place": "In weighted_sum_backward, the gradient of the values should start with the weights transposed.",
}
LOSES = ("weighted_sum_backward.*",)


def weighted_sum_backward(grad, weights, value):
    grad_weights = grad @ np.swapaxes(value, -1, -2)
    grad_value = weights @ grad
    return to_shape(grad_weights, weights.shape), to_shape(grad_value, value.shape)
