"""The peak is never below zero."""

import numpy as np

HINTS = {
    "question": "What is the peak of a row whose scores are near -1000?",
    "concept": "The peak must be the largest score, whatever its sign; else all exponentials vanish.",
    "place": "In add_block, remove the 0 from the maximum.",
}
LOSES = ("add_block.*",)


def add_block(peak, total, output, scores, value):
    new = np.maximum(np.maximum(peak, np.max(scores, axis=-1)), 0)
    old = np.exp(peak - new)
    weights = np.exp(scores - new[..., None])
    return new, total * old + np.sum(weights, axis=-1), output * old[..., None] + weights @ value
