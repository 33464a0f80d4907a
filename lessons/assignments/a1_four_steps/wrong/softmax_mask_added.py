"""The boolean mask is added to the scores: allowed keys gain 1, masked ones stay in."""

import numpy as np

HINTS = {
    "question": "What is a score plus True?",
    "concept": "An additive mask holds 0 and -inf; a boolean one has to be turned into that first.",
    "place": "In masked_softmax, use np.where(mask, scores, -np.inf).",
}
LOSES = ("masked_softmax.mask*", "masked_softmax.empty_rows", "masked_softmax.float32")


def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = scores + mask
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return weights / np.sum(weights, axis=-1, keepdims=True)
