"""Masked scores are set to -100, which real scores can lie below."""

import numpy as np

HINTS = {
    "question": "Which weight does a masked key get when the allowed scores are near -2000?",
    "concept": "No finite number is below every score; -inf is.",
    "place": "In masked_softmax, use -inf for masked scores, and look after rows that have nothing else.",
}
LOSES = ("masked_softmax.mask_extreme", "masked_softmax.empty_rows")


def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = np.where(mask, scores, -100.0)
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return weights / np.sum(weights, axis=-1, keepdims=True)
