"""A masked score is set to 0, but exp(0) is 1: the key still gets a share."""

import numpy as np

HINTS = {
    "question": "Which score gives a weight of exactly zero?",
    "concept": "exp turns -inf into 0; a score of 0 is an ordinary score.",
    "place": "In masked_softmax, replace masked scores by -inf, not by 0.",
}
LOSES = ("masked_softmax.mask*", "masked_softmax.empty_rows", "masked_softmax.float32")


def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = np.where(mask, scores, 0)
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return weights / np.sum(weights, axis=-1, keepdims=True)
