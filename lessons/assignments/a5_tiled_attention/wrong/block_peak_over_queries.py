"""The maximum is taken over the queries; each query needs the maximum over its keys."""

import numpy as np

HINTS = {
    "question": "Which axis of the scores (..., L, T) counts the keys?",
    "concept": "Each query has a softmax of its own, over the last axis.",
    "place": "In add_block, take the maximum along axis -1.",
}
LOSES = ("add_block.*",)


def add_block(peak, total, output, scores, value):
    new = np.maximum(peak, np.max(scores, axis=-2))
    shift = np.where(np.isneginf(new), 0, new)
    old = np.exp(peak - shift)
    weights = np.exp(scores - shift[..., None])
    return new, total * old + np.sum(weights, axis=-1), output * old[..., None] + weights @ value
