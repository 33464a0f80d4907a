"""attention scales the query and then the scores: twice."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "How often is the square root of d_k divided out?",
    "concept": "Scaling the query scales every score; scaling these again is once too often.",
    "place": "In attention, scale either the query or the scores.",
}
LOSES = ("attention.*",)


def attention(query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    scaled = scale_scores(scores(scale_scores(query, query.shape[-1]), key), query.shape[-1])
    return weighted_sum(masked_softmax(scaled, mask), value)
