"""The output is that of the block alone; what came before is forgotten."""

import numpy as np

HINTS = {
    "question": "What do the values of earlier blocks add to the output?",
    "concept": "The output runs through all blocks, as the total does.",
    "place": "In add_block, add the old output, brought to the new peak.",
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
    return new, total * np.exp(peak - shift) + np.sum(weights, axis=-1), weights @ value
