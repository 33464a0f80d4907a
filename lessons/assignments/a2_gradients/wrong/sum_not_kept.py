"""Only axes that are missing are summed over; an axis of size 1 was repeated too."""

import numpy as np

HINTS = {
    "question": "What did broadcasting do with an axis of size 1?",
    "concept": "Broadcasting adds axes in front, and stretches those of size 1: both kinds have to be summed over.",
    "place": "In weighted_sum_backward, sum over the axes of size 1 too, and keep them.",
}
LOSES = ("weighted_sum_backward.shared",)


def weighted_sum_backward(grad, weights, value):
    grad_weights = grad @ np.swapaxes(value, -1, -2)
    grad_value = np.swapaxes(weights, -1, -2) @ grad
    return grad_weights, np.sum(grad_value, axis=tuple(range(grad_value.ndim - value.ndim)))
