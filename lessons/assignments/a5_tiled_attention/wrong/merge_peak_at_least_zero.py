"""The peak is never below zero."""

import numpy as np

HINTS = {
    "question": "What is the peak of two pieces whose scores are near -1000?",
    "concept": "The peak must be the largest score, whatever its sign; else all exponentials vanish.",
    "place": "In merge, remove the 0 from the maximum.",
}
LOSES = ("merge.batch", "merge.far", "merge.nothing", "merge.float32")


def merge(peak_a, total_a, peak_b, total_b):
    peak = np.maximum(np.maximum(peak_a, peak_b), 0)
    return peak, total_a * np.exp(peak_a - peak) + total_b * np.exp(peak_b - peak)
