"""The sum of the totals is rescaled once; each total has its own factor."""

import numpy as np

HINTS = {
    "question": "By which factor does the total with the larger peak change?",
    "concept": "The total of the larger peak stays as it is, the other one shrinks.",
    "place": "In merge, multiply each total by exp(its own peak - the new peak) before adding.",
}
LOSES = ("merge.*",)


def merge(peak_a, total_a, peak_b, total_b):
    peak = np.maximum(peak_a, peak_b)
    return peak, (total_a + total_b) * np.exp(np.minimum(peak_a, peak_b) - peak)
