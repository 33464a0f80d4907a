"""A large negative number stands for the peak of a row that has seen nothing; it must stay -inf."""

import numpy as np

HINTS = {
    "question": "What is the largest score among no scores?",
    "concept": "A floor under the peak hides real scores that lie below it.",
    "place": "In add_block, return -inf where no key was seen.",
}
LOSES = ("add_block.nothing",)


def add_block(peak, total, output, scores, value):
    new = np.maximum(np.maximum(peak, np.max(scores, axis=-1)), -1e4)
    old = np.exp(peak - new)
    weights = np.exp(scores - new[..., None])
    return new, total * old + np.sum(weights, axis=-1), output * old[..., None] + weights @ value
