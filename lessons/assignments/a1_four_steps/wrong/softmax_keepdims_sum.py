"""The sum drops its axis, so dividing lines it up with the keys and not with the queries."""

import numpy as np

HINTS = {
    "question": "What is the shape of np.sum(weights, axis=-1), and how does it broadcast against the table?",
    "concept": "keepdims=True keeps an axis of size 1, so that each row is divided by its own sum.",
    "place": "In masked_softmax, np.sum needs keepdims=True.",
}
LOSES = ("masked_softmax.*",)


def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    peak = np.max(scores, axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isneginf(peak), 0, peak))
    total = np.sum(weights, axis=-1)
    return weights / np.where(total == 0, 1, total)
