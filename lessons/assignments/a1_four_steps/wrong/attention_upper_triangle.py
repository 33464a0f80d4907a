"""The upper triangle is kept: each query sees the future and not the past."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "May token 0 see token 1?",
    "concept": "Rows are queries, columns are keys; keys up to the query's own place are allowed.",
    "place": "In attention, use np.tri or np.tril, not np.triu.",
}
LOSES = ("attention.causal_small", "attention.causal", "attention.causal_lengths", "attention.causal_mask")


def attention(query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.triu(np.ones((query.shape[-2], key.shape[-2]), dtype=bool))
        mask = causal if mask is None else mask & causal
    scaled = scale_scores(scores(query, key), query.shape[-1])
    return weighted_sum(masked_softmax(scaled, mask), value)
