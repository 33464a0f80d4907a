"""The scores are multiplied by the square root of d_k, which must divide them."""

import numpy as np

HINTS = {
    "question": "Should wide keys make the scores larger or smaller?",
    "concept": "The scale undoes a growth, so it must shrink the scores.",
    "place": "In scale_scores, write scores / sqrt(d_k), or multiply by d_k ** -0.5.",
}
LOSES = ("scale_scores.*",)


def scale_scores(scores, d_k):
    return scores * np.sqrt(d_k)
