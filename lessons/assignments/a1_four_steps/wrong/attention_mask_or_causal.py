"""Mask and triangle are joined by or; a key must be allowed by both."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "May a query see a later key because the mask allows it?",
    "concept": "Two conditions that must both hold are joined by and.",
    "place": "In attention, use & in place of |.",
}
LOSES = ("attention.causal_mask",)


def attention(query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask | causal
    scaled = scale_scores(scores(query, key), query.shape[-1])
    return weighted_sum(masked_softmax(scaled, mask), value)
