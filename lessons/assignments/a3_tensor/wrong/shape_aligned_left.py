"""Shapes are lined up from the left; broadcasting lines them up from the right."""

import numpy as np

HINTS = {
    "question": "Which axis of (3, 2) is repeated for an input of shape (2,)?",
    "concept": "Broadcasting lines shapes up at their last axis; the axes that an input lacks are the first ones.",
    "place": "In sum_to_shape, sum over the first axes, not the last.",
}
LOSES = ("sum_to_shape.values", "sum_to_shape.leading", "sum_to_shape.both")


def sum_to_shape(grad, shape):
    grad = np.sum(grad, axis=tuple(range(len(shape), grad.ndim)))
    repeated = tuple(i for i, size in enumerate(shape) if size != grad.shape[i] and size == 1)
    return np.sum(grad, axis=repeated, keepdims=True)
