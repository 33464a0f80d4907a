"""The scale is taken from the width of the values; it belongs to the keys."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Over which width does the dot product of a query and a key run?",
    "concept": "d_k is the width of queries and keys; the values may be wider or narrower.",
    "place": "In attention, pass query.shape[-1] to scale_scores.",
}
LOSES = ("attention.*",)


def attention(query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    scaled = scale_scores(scores(query, key), value.shape[-1])
    return weighted_sum(masked_softmax(scaled, mask), value)
