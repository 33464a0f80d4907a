"""The causal triangle is aligned to the lower right corner; here it starts at the upper left."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "With 2 queries and 5 keys, which keys does query 0 see?",
    "concept": "Both alignments exist; they agree when L equals S. This assignment counts from the upper left.",
    "place": "In attention, use np.tri(L, S), with no offset S - L.",
}
LOSES = ("attention.causal_lengths", "attention.causal_mask")


def attention(query, key, value, mask=None, is_causal=False):
    if is_causal:
        L, S = query.shape[-2], key.shape[-2]
        causal = np.tri(L, S, k=S - L, dtype=bool)
        mask = causal if mask is None else mask & causal
    scaled = scale_scores(scores(query, key), query.shape[-1])
    return weighted_sum(masked_softmax(scaled, mask), value)
