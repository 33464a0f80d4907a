"""The scores are negative squared distances, not dot products."""

import numpy as np

HINTS = {
    "question": "What does a dot product measure that a distance does not?",
    "concept": "In scaled dot-product attention a match is a dot product.",
    "place": "In scores, replace the distance by query times key transposed.",
}
LOSES = ("scores.*",)


def scores(query, key):
    return -np.sum((query[..., :, None, :] - key[..., None, :, :]) ** 2, axis=-1)
