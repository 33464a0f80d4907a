"""The mask zeroes weights after the softmax, so the rows no longer sum to 1."""

import numpy as np

HINTS = {
    "question": "What do the weights of a masked row add up to?",
    "concept": "The mask must act before the normalisation: a masked key takes no share.",
    "place": "In masked_softmax, set masked scores to -inf before exp, or divide by the sum of what is left.",
}
LOSES = ("masked_softmax.mask*", "masked_softmax.empty_rows", "masked_softmax.float32")


def masked_softmax(scores, mask=None):
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    weights = weights / np.sum(weights, axis=-1, keepdims=True)
    return weights if mask is None else weights * mask
