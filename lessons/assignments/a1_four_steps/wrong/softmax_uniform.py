"""Every key gets the same weight, whatever its score."""

import numpy as np

HINTS = {
    "question": "Do the weights depend on the scores?",
    "concept": "A better match must get a larger weight.",
    "place": "In masked_softmax, use np.exp of the scores.",
}
LOSES = ("masked_softmax.*",)


def masked_softmax(scores, mask=None):
    weights = np.broadcast_to(True if mask is None else mask, scores.shape).astype(scores.dtype)
    return weights / np.maximum(np.sum(weights, axis=-1, keepdims=True), 1)
