"""What was summed before is multiplied by exp(new peak - old peak); it is the other way round."""

import numpy as np

HINTS = {
    "question": "Do old sums get larger or smaller when the peak rises?",
    "concept": "exp(score - new) = exp(score - old) exp(old - new): a number of at most 1.",
    "place": "In add_block, the exponent is the old peak minus the new one.",
}
LOSES = ("add_block.*",)


def add_block(peak, total, output, scores, value):
    new = np.maximum(peak, np.max(scores, axis=-1))
    shift = np.where(np.isneginf(new), 0, new)
    old = np.exp(shift - peak)
    weights = np.exp(scores - shift[..., None])
    return new, total * old + np.sum(weights, axis=-1), output * old[..., None] + weights @ value
