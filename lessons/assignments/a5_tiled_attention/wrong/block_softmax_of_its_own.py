"""Each block goes through a softmax of its own before it is added."""

import numpy as np

HINTS = {
    "question": "What do a block's weights add up to when the other keys score higher?",
    "concept": "A weight depends on all keys; until the last is seen there are only exponentials and their sum.",
    "place": "In add_block, do not divide the block's weights by their sum.",
}
LOSES = ("add_block.*",)


def add_block(peak, total, output, scores, value):
    new = np.maximum(peak, np.max(scores, axis=-1))
    shift = np.where(np.isneginf(new), 0, new)
    old = np.exp(peak - shift)
    weights = np.exp(scores - shift[..., None])
    part = np.sum(weights, axis=-1)
    weights = weights / np.where(part == 0, 1, part)[..., None]
    return new, total * old + part, output * old[..., None] + weights @ value
