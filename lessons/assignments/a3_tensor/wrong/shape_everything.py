"""Everything is summed, and the sum is given to every entry."""

import numpy as np

HINTS = {
    "question": "Does a column's gradient depend on the other rows?",
    "concept": "Only axes along which the input was repeated are summed over.",
    "place": "In sum_to_shape, choose the axes of the sum.",
}
LOSES = (
    "sum_to_shape.values",
    "sum_to_shape.leading",
    "sum_to_shape.stretched",
    "sum_to_shape.both",
    "sum_to_shape.same",
)


def sum_to_shape(grad, shape):
    return np.full(shape, np.sum(grad))
