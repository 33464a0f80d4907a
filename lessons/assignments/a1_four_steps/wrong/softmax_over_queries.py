"""The softmax runs over the queries; each query needs a distribution over the keys."""

import numpy as np

HINTS = {
    "question": "Which sums should be 1: those of the rows or those of the columns?",
    "concept": "A row of the table belongs to one query, and its weights share that query's attention among the keys.",
    "place": "In masked_softmax, use axis=-1 for the maximum and for the sum.",
}
LOSES = ("masked_softmax.*",)


def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    peak = np.max(scores, axis=-2, keepdims=True)
    weights = np.exp(scores - np.where(np.isneginf(peak), 0, peak))
    total = np.sum(weights, axis=-2, keepdims=True)
    return weights / np.where(total == 0, 1, total)
