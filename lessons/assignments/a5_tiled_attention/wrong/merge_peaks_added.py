"""The peaks are added."""

import numpy as np

HINTS = {
    "question": "Which is the largest score of both pieces together?",
    "concept": "Totals add up, peaks do not: the larger one stays.",
    "place": "In merge, use np.maximum for the new peak.",
}
LOSES = ("merge.*",)


def merge(peak_a, total_a, peak_b, total_b):
    peak = peak_a + peak_b
    return peak, total_a * np.exp(peak_a - peak) + total_b * np.exp(peak_b - peak)
