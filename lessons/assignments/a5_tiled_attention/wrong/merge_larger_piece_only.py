"""Only the piece with the larger peak is kept; the other one is forgotten."""

import numpy as np

HINTS = {
    "question": "What happens to the exponentials of the other piece?",
    "concept": "Both pieces are part of the row, so both totals count, each brought to the new peak.",
    "place": "In merge, add the other total too, times exp(its peak - the new peak).",
}
LOSES = ("merge.*",)


def merge(peak_a, total_a, peak_b, total_b):
    first = peak_a >= peak_b
    return np.where(first, peak_a, peak_b), np.where(first, total_a, total_b)
