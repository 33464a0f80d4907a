"""The products are averaged over the width, not summed."""

import numpy as np

HINTS = {
    "question": "Is a dot product a sum or a mean?",
    "concept": "Averaging divides by E; the scaling by the square root of E comes in the next step.",
    "place": "In scores, use a sum over the last axis in place of the mean.",
}
LOSES = ("scores.*",)


def scores(query, key):
    return np.mean(query[..., :, None, :] * key[..., None, :, :], axis=-1)
