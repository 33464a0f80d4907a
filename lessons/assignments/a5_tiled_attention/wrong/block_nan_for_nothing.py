"""A row that has seen no key yet becomes NaN: -inf - (-inf)."""

import numpy as np

HINTS = {
    "question": "What is the peak of a row that has seen nothing, and what is -inf - (-inf)?",
    "concept": "A row may see its first key in a later block; until then its peak is -inf and its sums are 0.",
    "place": "In add_block, subtract 0 where the new peak is -inf.",
}
LOSES = ("add_block.nothing",)


def add_block(peak, total, output, scores, value):
    new = np.maximum(peak, np.max(scores, axis=-1))
    old = np.exp(peak - new)
    weights = np.exp(scores - new[..., None])
    return new, total * old + np.sum(weights, axis=-1), output * old[..., None] + weights @ value
