"""Only the first copy's gradient is taken; all of them have to be added up."""

import numpy as np

HINTS = {
    "question": "What about the other copies?",
    "concept": "Gradients of several uses add up.",
    "place": "In sum_to_shape, replace the index 0 by a sum.",
}
LOSES = (
    "sum_to_shape.values",
    "sum_to_shape.leading",
    "sum_to_shape.stretched",
    "sum_to_shape.both",
    "sum_to_shape.scalar",
)


def sum_to_shape(grad, shape):
    grad = grad[(0,) * (grad.ndim - len(shape))]
    return np.asarray(grad)[tuple(slice(0, size) for size in shape)] * 1
