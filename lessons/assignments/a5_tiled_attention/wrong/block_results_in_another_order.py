"""The results come in another order."""

import numpy as np

HINTS = {
    "question": "In which order does the next block expect them?",
    "concept": "The order of the results is that of the arguments: peak, total, output.",
    "place": "In add_block, return peak, total, output.",
}
LOSES = ("add_block.*",)


def add_block(peak, total, output, scores, value):
    new = np.maximum(peak, np.max(scores, axis=-1))
    shift = np.where(np.isneginf(new), 0, new)
    old = np.exp(peak - shift)
    weights = np.exp(scores - shift[..., None])
    return output * old[..., None] + weights @ value, new, total * old + np.sum(weights, axis=-1)
