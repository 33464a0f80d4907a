"""A small number added to every sum keeps the weights from adding up to 1."""

import numpy as np

HINTS = {
    "question": "What do the weights of a row add up to, to the last digit?",
    "concept": "With the maximum subtracted the sum is at least 1; only a row without keys needs care.",
    "place": "In masked_softmax, guard only a sum of zero, with np.where.",
}
LOSES = (
    "masked_softmax.rows",
    "masked_softmax.batch",
    "masked_softmax.large",
    "masked_softmax.negative",
    "masked_softmax.mask",
    "masked_softmax.mask_small",
    "masked_softmax.mask_broadcast",
    "masked_softmax.mask_extreme",
    "masked_softmax.empty_rows",
)


def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    peak = np.max(scores, axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isneginf(peak), 0, peak))
    total = np.sum(weights, axis=-1, keepdims=True)
    return weights / (total + 1e-6)
