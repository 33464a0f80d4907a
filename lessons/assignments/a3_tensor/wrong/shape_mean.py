"""The gradient is averaged over the copies; gradients of several uses add up."""

import numpy as np

HINTS = {
    "question": "A number is used three times: is its gradient the mean or the sum of the three?",
    "concept": "Gradients of several uses add up.",
    "place": "In sum_to_shape, use sums, not means.",
}
LOSES = (
    "sum_to_shape.values",
    "sum_to_shape.leading",
    "sum_to_shape.stretched",
    "sum_to_shape.both",
    "sum_to_shape.scalar",
)


def sum_to_shape(grad, shape):
    grad = np.mean(grad, axis=tuple(range(grad.ndim - len(shape))))
    repeated = tuple(i for i, size in enumerate(shape) if size != grad.shape[i])
    return np.mean(grad, axis=repeated, keepdims=True)
