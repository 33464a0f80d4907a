"""The caller's totals are overwritten."""

import numpy as np

HINTS = {
    "question": "What do the caller's arrays hold after the call?",
    "concept": "An operator like *= writes into its argument.",
    "place": "In merge, make new arrays.",
}
LOSES = ("merge.*",)


def merge(peak_a, total_a, peak_b, total_b):
    peak = np.maximum(peak_a, peak_b)
    shift = np.where(np.isneginf(peak), 0, peak)
    total_a *= np.exp(peak_a - shift)
    total_a += total_b * np.exp(peak_b - shift)
    return peak, total_a
