"""exp is taken of the peaks themselves, which overflows at 709 and vanishes at -745."""

import numpy as np

HINTS = {
    "question": "What is exp(1000) in float64?",
    "concept": "Only differences from the new peak are safe: they are never positive.",
    "place": "In merge, use exp(peak_a - peak), never exp(peak_a).",
}
LOSES = ("merge.far", "merge.nothing")


def merge(peak_a, total_a, peak_b, total_b):
    peak = np.maximum(peak_a, peak_b)
    return peak, (total_a * np.exp(peak_a) + total_b * np.exp(peak_b)) / np.exp(peak)
