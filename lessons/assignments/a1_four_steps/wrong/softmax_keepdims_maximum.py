"""The maximum drops its axis, so it is subtracted along the keys and not along the queries."""

import numpy as np

HINTS = {
    "question": "What is the shape of np.max(scores, axis=-1), and how does it broadcast against the table?",
    "concept": "keepdims=True keeps an axis of size 1, so that each row has its own maximum subtracted.",
    "place": "In masked_softmax, np.max needs keepdims=True.",
}
LOSES = ("masked_softmax.*",)


def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    peak = np.max(scores, axis=-1)
    weights = np.exp(scores - np.where(np.isneginf(peak), 0, peak))
    total = np.sum(weights, axis=-1, keepdims=True)
    return weights / np.where(total == 0, 1, total)
