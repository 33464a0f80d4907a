"""Two pieces without a key give NaN: -inf - (-inf)."""

import numpy as np

HINTS = {
    "question": "What is the peak of a piece that holds no key, and what is -inf - (-inf)?",
    "concept": "Nothing and nothing is nothing: peak -inf, total 0.",
    "place": "In merge, subtract 0 where the new peak is -inf.",
}
LOSES = ("merge.nothing",)


def merge(peak_a, total_a, peak_b, total_b):
    peak = np.maximum(peak_a, peak_b)
    return peak, total_a * np.exp(peak_a - peak) + total_b * np.exp(peak_b - peak)
