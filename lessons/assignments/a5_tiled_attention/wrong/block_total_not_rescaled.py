"""The total so far is not brought to the new peak; only the output is."""

import numpy as np

HINTS = {
    "question": "Relative to which peak was the total summed?",
    "concept": "Output and total are sums with the same weights, so both get the same factor when the peak rises.",
    "place": "In add_block, multiply total by exp(old peak - new peak).",
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
    weights = np.exp(scores - shift[..., None])
    return new, total + np.sum(weights, axis=-1), output * np.exp(peak - shift)[..., None] + weights @ value
