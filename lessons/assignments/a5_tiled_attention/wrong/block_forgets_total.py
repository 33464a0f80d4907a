"""The total is that of the block alone; what came before is forgotten."""

import numpy as np

HINTS = {
    "question": "What do the keys of earlier blocks add to the total?",
    "concept": "The total runs through all blocks, as the output does.",
    "place": "In add_block, add the old total, brought to the new peak.",
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
    return new, np.sum(weights, axis=-1), output * old[..., None] + weights @ value
