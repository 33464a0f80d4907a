"""One maximum is taken for the whole table; each row needs its own."""

import numpy as np

HINTS = {
    "question": "What happens to a row of small scores beside a row of huge ones?",
    "concept": "A row that lies far below the common maximum underflows to zeros.",
    "place": "In masked_softmax, take the maximum along axis=-1 with keepdims=True.",
}
LOSES = ("masked_softmax.large",)


def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    peak = np.max(scores)
    weights = np.exp(scores - (peak if np.isfinite(peak) else 0))
    total = np.sum(weights, axis=-1, keepdims=True)
    return weights / np.where(total == 0, 1, total)
