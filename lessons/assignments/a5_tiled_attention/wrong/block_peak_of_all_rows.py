"""One peak is taken for all queries."""

import numpy as np

HINTS = {
    "question": "Which scores does the peak of query 0 come from?",
    "concept": "Each query has a softmax of its own, and so a peak of its own.",
    "place": "In add_block, take the maximum along the last axis.",
}
LOSES = ("add_block.*",)


def add_block(peak, total, output, scores, value):
    new = np.maximum(peak, np.max(scores))
    shift = np.where(np.isneginf(new), 0, new)
    old = np.exp(peak - shift)
    weights = np.exp(scores - shift[..., None])
    return new, total * old + np.sum(weights, axis=-1), output * old[..., None] + weights @ value
