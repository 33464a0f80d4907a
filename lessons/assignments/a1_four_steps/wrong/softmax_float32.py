"""The weights are float32 although the scores are float64."""

import numpy as np

HINTS = {
    "question": "What is the dtype of your result, and what was that of the inputs?",
    "concept": "A result keeps the precision of its inputs.",
    "place": "In masked_softmax, remove the conversion to float32.",
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
    return (weights / np.where(total == 0, 1, total)).astype(np.float32)
