"""The gradient is changed in place, although other nodes may hold the same array."""

import numpy as np

HINTS = {
    "question": "Who else holds the array that came as grad?",
    "concept": "What comes from above is not yours to change.",
    "place": "In sum_to_shape, make new arrays only.",
}
LOSES = ("sum_to_shape.*",)


def sum_to_shape(grad, shape):
    result = np.sum(grad, axis=tuple(range(grad.ndim - len(shape))))
    repeated = tuple(i for i, size in enumerate(shape) if size != result.shape[i])
    result = np.sum(result, axis=repeated, keepdims=True)
    grad *= 0
    return result
