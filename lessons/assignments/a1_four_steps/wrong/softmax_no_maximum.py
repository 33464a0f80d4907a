"""The row's maximum is not subtracted, so exp of a large score overflows."""

import numpy as np

HINTS = {
    "question": "What is exp(1000) in float64?",
    "concept": "Subtracting a constant from a row changes no weight; taking its maximum makes exp safe.",
    "place": "In masked_softmax, subtract np.max(scores, axis=-1, keepdims=True) before exp.",
}
LOSES = ("masked_softmax.large", "masked_softmax.negative", "masked_softmax.mask_extreme")


def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = np.exp(scores)
    total = np.sum(weights, axis=-1, keepdims=True)
    return weights / np.where(total == 0, 1, total)
