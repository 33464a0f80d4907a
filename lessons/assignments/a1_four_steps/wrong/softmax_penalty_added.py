"""A penalty is added to masked scores, so in a row that sees no key it cancels."""

import numpy as np

HINTS = {
    "question": "What does adding the same number to a whole row do to its softmax?",
    "concept": "A penalty on every key of a row is no penalty at all.",
    "place": "In masked_softmax, set the weights of rows without an allowed key to zero.",
}
LOSES = ("masked_softmax.empty_rows",)


def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = scores - 1e4 * ~np.asarray(mask)
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return weights / np.sum(weights, axis=-1, keepdims=True)
