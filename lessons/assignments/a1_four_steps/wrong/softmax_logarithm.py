"""These are the logarithms of the weights."""

import numpy as np

HINTS = {
    "question": "Can a weight be negative?",
    "concept": "log-softmax is used for losses; the weighted sum needs the weights themselves.",
    "place": "In masked_softmax, take np.exp of the result.",
}
LOSES = ("masked_softmax.*",)


def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    shifted = scores - np.max(scores, axis=-1, keepdims=True)
    return shifted - np.log(np.sum(np.exp(shifted), axis=-1, keepdims=True))
