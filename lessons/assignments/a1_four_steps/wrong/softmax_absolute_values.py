"""The absolute scores are divided by their sum; softmax needs exp."""

import numpy as np

HINTS = {
    "question": "Should a score of -5 get as much weight as a score of 5?",
    "concept": "exp is positive and keeps the order of the scores.",
    "place": "In masked_softmax, use np.exp in place of np.abs.",
}
LOSES = ("masked_softmax.*",)


def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = np.where(mask, scores, 0)
    return np.abs(scores) / np.sum(np.abs(scores), axis=-1, keepdims=True)
