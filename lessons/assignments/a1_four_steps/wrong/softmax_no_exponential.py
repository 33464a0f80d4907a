"""The scores are divided by their sum; without exp, weights can be negative."""

import numpy as np

HINTS = {
    "question": "Is every weight positive when scores are negative?",
    "concept": "Softmax makes scores positive by exp before it normalises.",
    "place": "In masked_softmax, apply np.exp before the sum.",
}
LOSES = ("masked_softmax.*",)


def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = np.where(mask, scores, 0)
    return scores / np.sum(scores, axis=-1, keepdims=True)
