"""The gradient of the weights uses the output in place of the values."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "What does weights[i, j] multiply in the forward step?",
    "concept": "It multiplies value j, so its gradient is grad[i] · value[j].",
    "place": "In weighted_sum_backward, use the values themselves.",
}
LOSES = ("weighted_sum_backward.*",)


def weighted_sum_backward(grad, weights, value):
    grad_weights = np.sum(grad * (weights @ value), axis=-1, keepdims=True) * np.ones_like(weights)
    grad_value = np.swapaxes(weights, -1, -2) @ grad
    return to_shape(grad_weights, weights.shape), to_shape(grad_value, value.shape)
