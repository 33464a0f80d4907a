"""The gradients are float32 although the inputs are float64."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "What is the dtype of your result, and what was that of the inputs?",
    "concept": "A gradient keeps the precision of its inputs.",
    "place": "In weighted_sum_backward, remove the conversion to float32.",
}
LOSES = (
    "weighted_sum_backward.values",
    "weighted_sum_backward.batch",
    "weighted_sum_backward.shapes",
    "weighted_sum_backward.shared",
)


def weighted_sum_backward(grad, weights, value):
    grad_weights = grad @ np.swapaxes(value, -1, -2)
    grad_value = np.swapaxes(weights, -1, -2) @ grad
    return to_shape(grad_weights, weights.shape).astype(np.float32), to_shape(grad_value, value.shape).astype(
        np.float32
    )
