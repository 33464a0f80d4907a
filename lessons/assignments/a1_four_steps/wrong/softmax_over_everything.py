"""One sum normalises the whole table; each row must sum to 1 by itself."""

import numpy as np

HINTS = {
    "question": "What do the weights of a single query add up to?",
    "concept": "Softmax is taken row by row.",
    "place": "In masked_softmax, the sum needs axis=-1 and keepdims=True.",
}
LOSES = ("masked_softmax.*",)


def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    peak = np.max(scores, axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isneginf(peak), 0, peak))
    return weights / max(np.sum(weights), 1e-300)
