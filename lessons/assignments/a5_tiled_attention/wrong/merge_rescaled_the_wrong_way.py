"""The totals are multiplied by exp(new peak - old peak); it is the other way round."""

import numpy as np

HINTS = {
    "question": "Does a total get larger or smaller when its peak rises?",
    "concept": "exp(score - new) = exp(score - old) exp(old - new): a number of at most 1.",
    "place": "In merge, the exponent is the old peak minus the new one.",
}
LOSES = ("merge.*",)


def merge(peak_a, total_a, peak_b, total_b):
    peak = np.maximum(peak_a, peak_b)
    return peak, total_a * np.exp(peak - peak_a) + total_b * np.exp(peak - peak_b)
