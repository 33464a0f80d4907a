"""Only axes of size 1 are summed over; axes that the input lacks were added by broadcasting too."""

import numpy as np

HINTS = {
    "question": "How many axes has the input, and how many your gradient?",
    "concept": "Broadcasting adds axes in front, and stretches those of size 1.",
    "place": "In sum_to_shape, first sum over the axes in front that shape does not have.",
}
LOSES = ("sum_to_shape.values", "sum_to_shape.leading", "sum_to_shape.both", "sum_to_shape.scalar")


def sum_to_shape(grad, shape):
    lead = grad.ndim - len(shape)
    axes = tuple(lead + i for i, size in enumerate(shape) if size != grad.shape[lead + i])
    return np.sum(grad, axis=axes, keepdims=True)
