"""The softmax is applied twice, which flattens the weights."""

import numpy as np

HINTS = {
    "question": "What is the softmax of numbers between 0 and 1?",
    "concept": "The weights are a result, not scores.",
    "place": "In masked_softmax, normalise once.",
}
LOSES = ("masked_softmax.*",)


def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    peak = np.max(scores, axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isneginf(peak), 0, peak))
    total = np.sum(weights, axis=-1, keepdims=True)
    weights = weights / np.where(total == 0, 1, total)
    return np.exp(weights) / np.sum(np.exp(weights), axis=-1, keepdims=True)
