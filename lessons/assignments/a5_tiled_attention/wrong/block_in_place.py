"""The caller's output is overwritten."""

import numpy as np

HINTS = {
    "question": "What do the caller's arrays hold after the call?",
    "concept": "An operator like *= writes into its argument.",
    "place": "In add_block, make new arrays.",
}
LOSES = ("add_block.*",)


def add_block(peak, total, output, scores, value):
    new = np.maximum(peak, np.max(scores, axis=-1))
    shift = np.where(np.isneginf(new), 0, new)
    old = np.exp(peak - shift)
    weights = np.exp(scores - shift[..., None])
    output *= old[..., None]
    output += weights @ value
    return new, total * old + np.sum(weights, axis=-1), output
