"""One key too many is allowed: each query sees its next neighbour."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "May token 0 see token 1?",
    "concept": "Keys 0 to i end with i.",
    "place": "In attention, use np.tri(L, S), with no k=1.",
}
LOSES = ("attention.causal_small", "attention.causal", "attention.causal_lengths", "attention.causal_mask")


def attention(query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], k=1, dtype=bool)
        mask = causal if mask is None else mask & causal
    scaled = scale_scores(scores(query, key), query.shape[-1])
    return weighted_sum(masked_softmax(scaled, mask), value)
