"""The gradient of the values is averaged over the queries; the contributions of several uses add up."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "A value is used by twice as many queries: what happens to its gradient?",
    "concept": "Gradients of several uses add up; nothing divides by their number.",
    "place": "In weighted_sum_backward, remove the division.",
}
LOSES = (
    "weighted_sum_backward.values",
    "weighted_sum_backward.batch",
    "weighted_sum_backward.shapes",
    "weighted_sum_backward.shared",
    "weighted_sum_backward.float32",
)


def weighted_sum_backward(grad, weights, value):
    grad_weights = grad @ np.swapaxes(value, -1, -2)
    grad_value = np.swapaxes(weights, -1, -2) @ grad / weights.shape[-2]
    return to_shape(grad_weights, weights.shape), to_shape(grad_value, value.shape)
