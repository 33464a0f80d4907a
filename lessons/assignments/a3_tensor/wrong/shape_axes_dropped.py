"""The sums are right, but axes of size 1 are gone from the shape."""

import numpy as np

HINTS = {
    "question": "Which shape is asked for?",
    "concept": "A gradient has the shape of its input, axes of size 1 included.",
    "place": "In sum_to_shape, use keepdims=True for the axes of size 1, or reshape at the end.",
}
LOSES = ("sum_to_shape.values", "sum_to_shape.stretched", "sum_to_shape.both")


def sum_to_shape(grad, shape):
    grad = np.sum(grad, axis=tuple(range(grad.ndim - len(shape))))
    return np.sum(grad, axis=tuple(i for i, size in enumerate(shape) if size != grad.shape[i]))
