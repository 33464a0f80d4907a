"""The total counts the keys of the block; it must add their exponentials."""

import numpy as np

HINTS = {
    "question": "What is the total of a block whose scores differ?",
    "concept": "The total is what the output is divided by at the end: the sum of exp(score - peak).",
    "place": "In add_block, add np.sum(weights, axis=-1).",
}
LOSES = ("add_block.*",)


def add_block(peak, total, output, scores, value):
    new = np.maximum(peak, np.max(scores, axis=-1))
    shift = np.where(np.isneginf(new), 0, new)
    old = np.exp(peak - shift)
    weights = np.exp(scores - shift[..., None])
    return new, total * old + scores.shape[-1], output * old[..., None] + weights @ value
