"""The new peak is the block's own, also where the old one is larger."""

import numpy as np

HINTS = {
    "question": "Which is the largest score of all keys so far?",
    "concept": "The running peak never falls.",
    "place": "In add_block, take the maximum of the old peak and the block's.",
}
LOSES = (
    "add_block.second",
    "add_block.batch",
    "add_block.far",
    "add_block.masked",
    "add_block.nothing",
    "add_block.float32",
)


def add_block(peak, total, output, scores, value):
    new = np.max(scores, axis=-1)
    shift = np.where(np.isneginf(new), 0, new)
    old = np.exp(peak - shift)
    weights = np.exp(scores - shift[..., None])
    return new, total * old + np.sum(weights, axis=-1), output * old[..., None] + weights @ value
