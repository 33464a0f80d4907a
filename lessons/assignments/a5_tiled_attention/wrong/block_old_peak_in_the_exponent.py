"""The block's weights are made with the old peak, before it is raised."""

import numpy as np

HINTS = {
    "question": "Which peak belongs to the sums that you return?",
    "concept": "First the new peak, then everything relative to it.",
    "place": "In add_block, subtract the new peak from the scores.",
}
LOSES = ("add_block.*",)


def add_block(peak, total, output, scores, value):
    new = np.maximum(peak, np.max(scores, axis=-1))
    weights = np.exp(scores - peak[..., None])
    old = np.exp(peak - new)
    return new, total * old + np.sum(weights, axis=-1), output * old[..., None] + weights @ value
