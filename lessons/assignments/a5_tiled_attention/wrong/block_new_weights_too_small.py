"""The block's own sums are rescaled, too, although they are made with the new peak."""

import numpy as np

HINTS = {
    "question": "Relative to which peak are the block's weights?",
    "concept": "Only what was summed with the old peak must be brought to the new one.",
    "place": "In add_block, multiply the old sums alone.",
}
LOSES = ("add_block.*",)


def add_block(peak, total, output, scores, value):
    new = np.maximum(peak, np.max(scores, axis=-1))
    shift = np.where(np.isneginf(new), 0, new)
    old = np.exp(peak - shift)
    weights = np.exp(scores - shift[..., None])
    return new, (total + np.sum(weights, axis=-1)) * old, (output + weights @ value) * old[..., None]
