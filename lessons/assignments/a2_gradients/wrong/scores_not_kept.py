"""Only axes that are missing are summed over; an axis of size 1 was repeated too."""

import numpy as np

HINTS = {
    "question": "What did broadcasting do with an axis of size 1?",
    "concept": "Broadcasting adds axes in front, and stretches those of size 1: both kinds have to be summed over.",
    "place": "In scores_backward, sum over the axes of size 1 too, and keep them.",
}
LOSES = ("scores_backward.shared",)


def scores_backward(grad, query, key):
    grad_query = grad @ key
    grad_key = np.swapaxes(grad, -1, -2) @ query
    return tuple(np.sum(g, axis=tuple(range(g.ndim - x.ndim))) for g, x in ((grad_query, query), (grad_key, key)))
