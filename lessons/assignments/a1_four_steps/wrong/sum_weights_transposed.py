"""The weights are transposed, so values are mixed along the queries."""

import numpy as np

HINTS = {
    "question": "Which axis of the weights belongs to the keys?",
    "concept": "Row i of the weights says how query i mixes the values.",
    "place": "In weighted_sum, use weights @ value.",
}
LOSES = ("weighted_sum.*",)


def weighted_sum(weights, value):
    return np.swapaxes(weights, -1, -2) @ value
