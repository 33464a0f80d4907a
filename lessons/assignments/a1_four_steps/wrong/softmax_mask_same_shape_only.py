"""The mask is used as an index, which works only if it has the table's own shape."""

import numpy as np

HINTS = {
    "question": "What is the shape of a padding mask (B, 1, 1, S), and of scores[mask]?",
    "concept": "np.where broadcasts a mask; indexing with it does not.",
    "place": "In masked_softmax, use np.where(mask, scores, -np.inf).",
}
LOSES = ("masked_softmax.mask_broadcast",)


def masked_softmax(scores, mask=None):
    scores = scores.copy()
    if mask is not None:
        scores[~mask] = -np.inf
    peak = np.max(scores, axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isneginf(peak), 0, peak))
    total = np.sum(weights, axis=-1, keepdims=True)
    return weights / np.where(total == 0, 1, total)
