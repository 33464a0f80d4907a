"""The results come stacked in one array; two arrays are asked for."""

import numpy as np

HINTS = {
    "question": "What is the type of what you return?",
    "concept": "return peak, total makes a tuple of two arrays.",
    "place": "In merge, leave out the stacking.",
}
LOSES = ("merge.*",)


def merge(peak_a, total_a, peak_b, total_b):
    peak = np.maximum(peak_a, peak_b)
    shift = np.where(np.isneginf(peak), 0, peak)
    return np.stack([peak, total_a * np.exp(peak_a - shift) + total_b * np.exp(peak_b - shift)])
