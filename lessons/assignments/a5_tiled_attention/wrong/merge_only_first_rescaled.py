"""Only the first total is brought to the new peak."""

import numpy as np

HINTS = {
    "question": "What if the first piece has the larger peak?",
    "concept": "Either piece may have the smaller peak, so both totals must be multiplied.",
    "place": "In merge, multiply total_b by exp(peak_b - peak) as well.",
}
LOSES = ("merge.*",)


def merge(peak_a, total_a, peak_b, total_b):
    peak = np.maximum(peak_a, peak_b)
    return peak, total_a * np.exp(peak_a - peak) + total_b
