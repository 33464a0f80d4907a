"""The scale is taken from the number of keys; it belongs to their width."""

import numpy as np

HINTS = {
    "question": "Over which axis was the sum in the dot product?",
    "concept": "The spread comes from the number of terms in a dot product, which is the width d_k.",
    "place": "In scale_scores, use the argument d_k, not a size of the table.",
}
LOSES = ("scale_scores.*",)


def scale_scores(scores, d_k):
    return scores / np.sqrt(scores.shape[-1])
