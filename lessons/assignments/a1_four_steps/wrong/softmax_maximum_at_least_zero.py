"""The subtracted maximum is never below zero, so rows of very negative scores underflow."""

import numpy as np

HINTS = {
    "question": "What is subtracted from a row whose largest score is -1000?",
    "concept": "The maximum must be the row's own, whatever its sign.",
    "place": "In masked_softmax, remove the 0 from the maximum.",
}
LOSES = ("masked_softmax.negative", "masked_softmax.mask_extreme")


def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = np.exp(scores - np.maximum(np.max(scores, axis=-1, keepdims=True), 0))
    total = np.sum(weights, axis=-1, keepdims=True)
    return weights / np.where(total == 0, 1, total)
