"""The peak has an axis too many: (..., L, 1) meets (..., L)."""

import numpy as np

HINTS = {
    "question": "What is the shape of np.max(scores, axis=-1, keepdims=True)?",
    "concept": "Peak and total have one number for each query, (..., L).",
    "place": "In add_block, leave out keepdims, and add the axis only where scores are subtracted.",
}
LOSES = ("add_block.*",)


def add_block(peak, total, output, scores, value):
    new = np.maximum(peak[..., None], np.max(scores, axis=-1, keepdims=True))
    shift = np.where(np.isneginf(new), 0, new)
    old = np.exp(peak[..., None] - shift)
    weights = np.exp(scores - shift)
    total = total[..., None] * old + np.sum(weights, axis=-1, keepdims=True)
    return new, total, output * old + weights @ value
