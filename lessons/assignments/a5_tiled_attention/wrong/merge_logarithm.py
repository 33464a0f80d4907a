"""The second result is the logarithm of the sum, not the sum relative to the peak."""

import numpy as np

HINTS = {
    "question": "What is the total of a single score?",
    "concept": "The total is a sum of exp(score - peak): 1 for a single score, 0 for none.",
    "place": "In merge, return the total itself.",
}
LOSES = ("merge.*",)


def merge(peak_a, total_a, peak_b, total_b):
    peak = np.maximum(peak_a, peak_b)
    shift = np.where(np.isneginf(peak), 0, peak)
    return peak, shift + np.log(total_a * np.exp(peak_a - shift) + total_b * np.exp(peak_b - shift))
