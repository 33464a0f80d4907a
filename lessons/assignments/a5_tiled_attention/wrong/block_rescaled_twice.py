"""The output so far is rescaled twice."""

import numpy as np

HINTS = {
    "question": "How often is the output multiplied by exp(old peak - new peak)?",
    "concept": "Once is enough to bring a sum from the old peak to the new one.",
    "place": "In add_block, multiply output by the factor once.",
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
    new = np.maximum(peak, np.max(scores, axis=-1))
    shift = np.where(np.isneginf(new), 0, new)
    old = np.exp(peak - shift)
    weights = np.exp(scores - shift[..., None])
    return new, total * old + np.sum(weights, axis=-1), output * old[..., None] ** 2 + weights @ value
