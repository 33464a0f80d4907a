"""A large negative number stands for the peak of nothing; it must stay -inf."""

import numpy as np

HINTS = {
    "question": "What is the largest score among no scores?",
    "concept": "Any score is larger than -inf; a finite number would be beaten only by scores above it.",
    "place": "In merge, do not replace -inf in what is returned.",
}
LOSES = ("merge.nothing",)


def merge(peak_a, total_a, peak_b, total_b):
    peak = np.maximum(np.maximum(peak_a, peak_b), -1e30)
    return peak, total_a * np.exp(peak_a - peak) + total_b * np.exp(peak_b - peak)
