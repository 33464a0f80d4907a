"""The maximum is subtracted in place, so the caller's scores change."""

import numpy as np

HINTS = {
    "question": "What does the caller's array hold after scores -= 2?",
    "concept": "An operator like -= writes into its argument.",
    "place": "In masked_softmax, write scores = scores - maximum.",
}
LOSES = ("masked_softmax.*",)


def masked_softmax(scores, mask=None):
    scores -= np.max(scores, axis=-1, keepdims=True)
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    peak = np.max(scores, axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isneginf(peak), 0, peak))
    total = np.sum(weights, axis=-1, keepdims=True)
    return weights / np.where(total == 0, 1, total)
