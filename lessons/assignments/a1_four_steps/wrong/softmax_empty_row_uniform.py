"""A large negative number stands for -inf, so a row that sees no key comes out uniform."""

import numpy as np

HINTS = {
    "question": "What is the softmax of a row that is -1e9 everywhere?",
    "concept": "The softmax only sees differences; a row of equal scores is uniform, however small they are.",
    "place": "In masked_softmax, set the weights of rows without an allowed key to zero.",
}
LOSES = ("masked_softmax.empty_rows",)


def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = np.where(mask, scores, -1e9)
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return weights / np.sum(weights, axis=-1, keepdims=True)
