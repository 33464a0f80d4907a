"""The results are float32 although the inputs are float64."""

import numpy as np

HINTS = {
    "question": "What is the dtype of your results, and what was that of the inputs?",
    "concept": "A result keeps the precision of its inputs.",
    "place": "In add_block, remove the conversion to float32.",
}
LOSES = (
    "add_block.first",
    "add_block.second",
    "add_block.batch",
    "add_block.first_batch",
    "add_block.far",
    "add_block.masked",
    "add_block.nothing",
)


def add_block(peak, total, output, scores, value):
    new = np.maximum(peak, np.max(scores, axis=-1))
    shift = np.where(np.isneginf(new), 0, new)
    old = np.exp(peak - shift)
    weights = np.exp(scores - shift[..., None])
    results = new, total * old + np.sum(weights, axis=-1), output * old[..., None] + weights @ value
    return tuple(each.astype(np.float32) for each in results)
