"""The scale is taken from the number of keys; it belongs to their width."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Which axis of the keys is d_k?",
    "concept": "d_k is the last axis of the keys, their width; the one before counts them.",
    "place": "In attention, pass key.shape[-1], not key.shape[-2], to scale_scores.",
}
LOSES = ("attention.*",)


def attention(query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    scaled = scale_scores(scores(query, key), key.shape[-2])
    return weighted_sum(masked_softmax(scaled, mask), value)
