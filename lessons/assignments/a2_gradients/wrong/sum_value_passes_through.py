"""The gradient goes to the values as it is: the weights of the forward step are forgotten."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "How much of value j went into the output of query i?",
    "concept": "The values' gradient is weighted by the same weights as the values.",
    "place": "In weighted_sum_backward, multiply by the weights transposed.",
}
LOSES = ("weighted_sum_backward.*",)


def weighted_sum_backward(grad, weights, value):
    grad_weights = grad @ np.swapaxes(value, -1, -2)
    grad_value = grad * np.ones(value.shape[-1])
    return to_shape(grad_weights, weights.shape), grad_value
