"""Masked scores are written into the table that was given, so the caller's scores change."""

import numpy as np

HINTS = {
    "question": "What does the caller's array hold after scores[~mask] = -np.inf?",
    "concept": "Assigning to part of an argument changes the caller's array.",
    "place": "In masked_softmax, use np.where, or copy the scores first.",
}
LOSES = ("masked_softmax.mask*", "masked_softmax.empty_rows", "masked_softmax.float32")


def masked_softmax(scores, mask=None):
    if mask is not None:
        scores[~np.broadcast_to(mask, scores.shape)] = -np.inf
    peak = np.max(scores, axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isneginf(peak), 0, peak))
    total = np.sum(weights, axis=-1, keepdims=True)
    return weights / np.where(total == 0, 1, total)
