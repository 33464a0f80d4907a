"""The scale is taken from the number of queries; it belongs to the width of the keys."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Which axis of the queries is d_k?",
    "concept": "d_k is the last axis; the one before counts the queries.",
    "place": "In attention, pass query.shape[-1], not query.shape[-2], to scale_scores.",
}
LOSES = ("attention.*",)


def attention(query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    scaled = scale_scores(scores(query, key), query.shape[-2])
    return weighted_sum(masked_softmax(scaled, mask), value)
