"""The output is divided by the total in every block; that is left to the end."""

import numpy as np

HINTS = {
    "question": "What would the next block add to?",
    "concept": "Output is a plain sum of exp(score - peak) times value; dividing once, at the end, is enough.",
    "place": "In add_block, return the sum without dividing it.",
}
LOSES = ("add_block.*",)


def add_block(peak, total, output, scores, value):
    new = np.maximum(peak, np.max(scores, axis=-1))
    shift = np.where(np.isneginf(new), 0, new)
    old = np.exp(peak - shift)
    weights = np.exp(scores - shift[..., None])
    total = total * old + np.sum(weights, axis=-1)
    output = output * old[..., None] + weights @ value
    return new, total, output / np.where(total == 0, 1, total)[..., None]
