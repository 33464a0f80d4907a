"""The results have changed places."""

import numpy as np

HINTS = {
    "question": "Which comes first, the peak or the total?",
    "concept": "The order of the results is that of the arguments: peak, total.",
    "place": "In merge, return peak, total.",
}
LOSES = ("merge.*",)


def merge(peak_a, total_a, peak_b, total_b):
    peak = np.maximum(peak_a, peak_b)
    shift = np.where(np.isneginf(peak), 0, peak)
    return total_a * np.exp(peak_a - shift) + total_b * np.exp(peak_b - shift), peak
