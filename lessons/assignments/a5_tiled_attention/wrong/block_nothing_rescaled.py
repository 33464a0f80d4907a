"""Neither total nor output are brought to the new peak."""

import numpy as np

HINTS = {
    "question": "Relative to which peak were they summed?",
    "concept": "When the peak rises from old to new, all that was summed before shrinks by exp(old - new).",
    "place": "In add_block, multiply total and output by exp(old peak - new peak).",
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
    weights = np.exp(scores - np.where(np.isneginf(new), 0, new)[..., None])
    return new, total + np.sum(weights, axis=-1), output + weights @ value
