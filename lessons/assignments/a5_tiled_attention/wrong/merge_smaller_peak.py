"""The smaller of the two peaks is taken."""

import numpy as np

HINTS = {
    "question": "Which is the largest score of both pieces together?",
    "concept": "With the smaller peak the exponents are positive, and exp overflows.",
    "place": "In merge, use np.maximum, not np.minimum.",
}
LOSES = ("merge.*",)


def merge(peak_a, total_a, peak_b, total_b):
    peak = np.minimum(peak_a, peak_b)
    return peak, total_a * np.exp(peak_a - peak) + total_b * np.exp(peak_b - peak)
