"""The table is divided by its own measured spread; the scale must depend on d_k alone."""

import numpy as np

HINTS = {
    "question": "Would the same query and key score differently beside other keys?",
    "concept": "The scale is a constant from theory, so that each score depends on its own query and key only.",
    "place": "In scale_scores, divide by the square root of d_k, not by a standard deviation.",
}
LOSES = ("scale_scores.*",)


def scale_scores(scores, d_k):
    return scores / np.std(scores)
