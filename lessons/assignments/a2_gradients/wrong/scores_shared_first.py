"""Only the first of the uses of a shared input counts; all of them have to be added up."""

import numpy as np

HINTS = {
    "question": "What about the other sequences that use the same key?",
    "concept": "Gradients of several uses add up.",
    "place": "In scores_backward, sum over the repeated axes; do not take index 0.",
}
LOSES = ("scores_backward.shared",)


def scores_backward(grad, query, key):
    grad_query = grad @ key
    grad_key = np.swapaxes(grad, -1, -2) @ query
    for axis in range(grad.ndim - 2):
        full = (1,) * (grad.ndim - query.ndim) + query.shape, (1,) * (grad.ndim - key.ndim) + key.shape
        if full[0][axis] != grad.shape[axis]:
            grad_query = np.take(grad_query, [0], axis=axis)
        if full[1][axis] != grad.shape[axis]:
            grad_key = np.take(grad_key, [0], axis=axis)
    return grad_query.reshape(query.shape), grad_key.reshape(key.shape)
