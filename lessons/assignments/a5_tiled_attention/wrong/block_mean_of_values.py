"""The block's weighted values are averaged; they must be summed."""

import numpy as np

HINTS = {
    "question": "Is the output a sum or a mean, until it is divided by the total?",
    "concept": "The only division is that by the total, at the end.",
    "place": "In add_block, add weights @ value as it is.",
}
LOSES = (
    "add_block.first",
    "add_block.second",
    "add_block.batch",
    "add_block.first_batch",
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
    return new, total * old + np.sum(weights, axis=-1), output * old[..., None] + weights @ value / value.shape[-2]
