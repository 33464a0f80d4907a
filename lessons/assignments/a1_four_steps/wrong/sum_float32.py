"""The output is float32 although the inputs are float64."""

import numpy as np

HINTS = {
    "question": "What is the dtype of your result, and what was that of the inputs?",
    "concept": "A result keeps the precision of its inputs.",
    "place": "In weighted_sum, remove the conversion to float32.",
}
LOSES = ("weighted_sum.values", "weighted_sum.batch", "weighted_sum.square")


def weighted_sum(weights, value):
    return (weights @ value).astype(np.float32)
