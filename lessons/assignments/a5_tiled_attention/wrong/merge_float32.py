"""The results are float32 although the inputs are float64."""

import numpy as np

HINTS = {
    "question": "What is the dtype of your results, and what was that of the inputs?",
    "concept": "A result keeps the precision of its inputs.",
    "place": "In merge, remove the conversion to float32.",
}
LOSES = ("merge.small", "merge.batch", "merge.far", "merge.nothing")


def merge(peak_a, total_a, peak_b, total_b):
    peak = np.maximum(peak_a, peak_b)
    shift = np.where(np.isneginf(peak), 0, peak)
    total = total_a * np.exp(peak_a - shift) + total_b * np.exp(peak_b - shift)
    return peak.astype(np.float32), total.astype(np.float32)
