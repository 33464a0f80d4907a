"""Each score goes through a sigmoid by itself; the weights of a row then do not share 1 among them."""

import numpy as np

HINTS = {
    "question": "What do the weights of a row add up to?",
    "concept": "A sigmoid decides key by key, a softmax shares among keys.",
    "place": "In masked_softmax, divide exp(scores) by the row's sum, not by 1 + exp.",
}
LOSES = ("masked_softmax.*",)


def masked_softmax(scores, mask=None):
    weights = 1 / (1 + np.exp(-scores))
    return weights if mask is None else weights * mask
