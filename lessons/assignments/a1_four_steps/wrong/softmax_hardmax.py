"""The whole weight goes to the largest score: an argmax, not a softmax."""

import numpy as np

HINTS = {
    "question": "How much weight should a key get whose score is almost the largest?",
    "concept": "Softmax is soft: keys with close scores get close weights.",
    "place": "In masked_softmax, use exp in place of comparing with the maximum.",
}
LOSES = ("masked_softmax.*",)


def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    best = (scores == np.max(scores, axis=-1, keepdims=True)) & np.isfinite(scores)
    return best / np.maximum(np.sum(best, axis=-1, keepdims=True), 1)
