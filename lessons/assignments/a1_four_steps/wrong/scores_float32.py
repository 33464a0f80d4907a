"""The result is float32 although the inputs are float64: half of the digits are gone."""

import numpy as np

HINTS = {
    "question": "What is the dtype of your result, and what was that of the inputs?",
    "concept": "A result keeps the precision of its inputs.",
    "place": "In scores, remove the conversion to float32.",
}
LOSES = ("scores.values", "scores.batch", "scores.shapes")


def scores(query, key):
    return (query @ np.swapaxes(key, -1, -2)).astype(np.float32)
