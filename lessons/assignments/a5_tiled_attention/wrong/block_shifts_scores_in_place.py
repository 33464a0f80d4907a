"""The caller's scores are overwritten."""

import numpy as np

HINTS = {
    "question": "What do the caller's arrays hold after the call?",
    "concept": "An operator like -= writes into its argument.",
    "place": "In add_block, make a new array: scores - shift.",
}
LOSES = ("add_block.*",)


def add_block(peak, total, output, scores, value):
    new = np.maximum(peak, np.max(scores, axis=-1))
    shift = np.where(np.isneginf(new), 0, new)
    old = np.exp(peak - shift)
    scores -= shift[..., None]
    weights = np.exp(scores)
    return new, total * old + np.sum(weights, axis=-1), output * old[..., None] + weights @ value
