"""The first peak is kept, also where the second is larger."""

import numpy as np

HINTS = {
    "question": "Which is the largest score of both pieces together?",
    "concept": "The peak of the whole is the larger of the two peaks.",
    "place": "In merge, use np.maximum for the new peak.",
}
LOSES = ("merge.*",)


def merge(peak_a, total_a, peak_b, total_b):
    return peak_a, total_a + total_b * np.exp(peak_b - peak_a)
