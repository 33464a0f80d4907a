"""The old peak is returned with sums that are relative to the new one."""

import numpy as np

HINTS = {
    "question": "Which peak belongs to the sums that you return?",
    "concept": "The three results must fit together, or the next block rescales from a wrong peak.",
    "place": "In add_block, return the new peak.",
}
LOSES = ("add_block.*",)


def add_block(peak, total, output, scores, value):
    new = np.maximum(peak, np.max(scores, axis=-1))
    shift = np.where(np.isneginf(new), 0, new)
    old = np.exp(peak - shift)
    weights = np.exp(scores - shift[..., None])
    return peak, total * old + np.sum(weights, axis=-1), output * old[..., None] + weights @ value
