"""Only the second total is brought to the new peak."""

import numpy as np

HINTS = {
    "question": "What if the second piece has the larger peak?",
    "concept": "Either piece may have the smaller peak, so both totals must be multiplied.",
    "place": "In merge, multiply total_a by exp(peak_a - peak) as well.",
}
LOSES = ("merge.*",)


def merge(peak_a, total_a, peak_b, total_b):
    peak = np.maximum(peak_a, peak_b)
    return peak, total_a + total_b * np.exp(peak_b - peak)
