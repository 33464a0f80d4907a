"""Only axes that the input lacks are summed over; an axis of size 1 was repeated too."""

import numpy as np

HINTS = {
    "question": "What did broadcasting do with the axis of size 1?",
    "concept": "Broadcasting adds axes in front, and stretches those of size 1.",
    "place": "In sum_to_shape, sum over the axes where shape has a 1 and grad has not, with keepdims.",
}
LOSES = ("sum_to_shape.values", "sum_to_shape.stretched", "sum_to_shape.both")


def sum_to_shape(grad, shape):
    return np.sum(grad, axis=tuple(range(grad.ndim - len(shape))))
