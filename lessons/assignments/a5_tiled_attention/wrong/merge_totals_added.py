"""The totals are added as they are, although each is relative to its own peak."""

import numpy as np

HINTS = {
    "question": "Relative to what is each total a sum?",
    "concept": "A total is a sum of exp(score - peak): before two are added they must be brought to the same peak.",
    "place": "In merge, multiply each total by exp(its peak - the new peak).",
}
LOSES = ("merge.*",)


def merge(peak_a, total_a, peak_b, total_b):
    return np.maximum(peak_a, peak_b), total_a + total_b
