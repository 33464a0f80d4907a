"""The mask is read the wrong way round, and a row that keeps no key becomes NaN."""

import numpy as np

HINTS = {
    "question": "For mask True, should the weight be zero or not?",
    "concept": "True keeps; and -inf - (-inf) is NaN, so a row without keys needs care.",
    "place": "In masked_softmax, swap the two branches of np.where, then look after rows of -inf alone.",
}
LOSES = ("masked_softmax.mask*", "masked_softmax.empty_rows", "masked_softmax.float32")


def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = np.where(mask, -np.inf, scores)
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return weights / np.sum(weights, axis=-1, keepdims=True)
