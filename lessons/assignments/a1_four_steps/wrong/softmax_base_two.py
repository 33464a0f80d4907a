"""The power of 2 stands where the power of e belongs."""

import numpy as np

HINTS = {
    "question": "Which base does the exponential function have?",
    "concept": "A base of 2 gives flatter weights, as if the scores had shrunk by log 2.",
    "place": "In masked_softmax, use np.exp.",
}
LOSES = ("masked_softmax.*",)


def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    peak = np.max(scores, axis=-1, keepdims=True)
    weights = np.exp2(scores - np.where(np.isneginf(peak), 0, peak))
    total = np.sum(weights, axis=-1, keepdims=True)
    return weights / np.where(total == 0, 1, total)
