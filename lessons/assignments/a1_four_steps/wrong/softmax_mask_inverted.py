"""The mask is read the wrong way round: True means that the query may attend."""

import numpy as np

HINTS = {
    "question": "For mask True, should the weight be zero or not?",
    "concept": "Here, as in scaled_dot_product_attention of PyTorch, True keeps.",
    "place": "In masked_softmax, swap the two branches of np.where, or use ~mask.",
}
LOSES = ("masked_softmax.mask*", "masked_softmax.empty_rows", "masked_softmax.float32")


def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = np.where(mask, -np.inf, scores)
    peak = np.max(scores, axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isneginf(peak), 0, peak))
    total = np.sum(weights, axis=-1, keepdims=True)
    return weights / np.where(total == 0, 1, total)
