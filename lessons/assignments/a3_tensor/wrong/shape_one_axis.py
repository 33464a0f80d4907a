"""Only the first axis is summed over, however many were added."""

import numpy as np

HINTS = {
    "question": "How many axes did broadcasting add?",
    "concept": "All axes that the input lacks are summed over.",
    "place": "In sum_to_shape, go on until the numbers of axes are the same.",
}
LOSES = ("sum_to_shape.leading", "sum_to_shape.scalar")


def sum_to_shape(grad, shape):
    if grad.ndim > len(shape):
        grad = np.sum(grad, axis=0)
    repeated = tuple(i for i, size in enumerate(shape) if size == 1 and grad.shape[i] != 1)
    return np.sum(grad, axis=repeated, keepdims=True)
