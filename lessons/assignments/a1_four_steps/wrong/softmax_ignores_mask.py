"""The mask is not used."""

import numpy as np

HINTS = {
    "question": "Where does the argument mask appear in your function?",
    "concept": "A masked key must get a weight of exactly zero.",
    "place": "In masked_softmax, set masked scores to -inf before the maximum is taken.",
}
LOSES = ("masked_softmax.mask*", "masked_softmax.empty_rows", "masked_softmax.float32")


def masked_softmax(scores, mask=None):
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return weights / np.sum(weights, axis=-1, keepdims=True)
