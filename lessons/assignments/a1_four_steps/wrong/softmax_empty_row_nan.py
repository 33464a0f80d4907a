"""A row that sees no key becomes NaN: -inf - (-inf), then 0 / 0."""

import numpy as np

HINTS = {
    "question": "What is the maximum of a row of -inf, and what is left after subtracting it?",
    "concept": "A query that may attend to nothing has weights of zero by agreement.",
    "place": "In masked_softmax, do not subtract a maximum of -inf, and do not divide by a sum of 0.",
}
LOSES = ("masked_softmax.empty_rows",)


def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return weights / np.sum(weights, axis=-1, keepdims=True)
