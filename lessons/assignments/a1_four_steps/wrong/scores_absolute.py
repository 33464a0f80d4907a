"""The scores have lost their sign: a query opposite to a key must score low, not high."""

import numpy as np

HINTS = {
    "question": "What should the score of two opposite vectors be?",
    "concept": "The sign of a dot product says whether two vectors agree.",
    "place": "In scores, remove the absolute value.",
}
LOSES = ("scores.*",)


def scores(query, key):
    return np.abs(query @ np.swapaxes(key, -1, -2))
