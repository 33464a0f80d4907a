"""The values are transposed, so the sum runs over their width and not over the keys."""

import numpy as np

HINTS = {
    "question": "Which axis do weights and values have in common?",
    "concept": "Each value is a row; the sum runs over the rows.",
    "place": "In weighted_sum, use weights @ value.",
}
LOSES = ("weighted_sum.*",)


def weighted_sum(weights, value):
    return weights @ np.swapaxes(value, -1, -2)
