"""The numbers are cut off to fit, not added up."""

import numpy as np

HINTS = {
    "question": "Where do the numbers go that do not fit?",
    "concept": "Gradients of several uses add up.",
    "place": "In sum_to_shape, use sums, not a reshape or a slice.",
}
LOSES = (
    "sum_to_shape.values",
    "sum_to_shape.leading",
    "sum_to_shape.stretched",
    "sum_to_shape.both",
    "sum_to_shape.scalar",
)


def sum_to_shape(grad, shape):
    return np.resize(grad, shape)
