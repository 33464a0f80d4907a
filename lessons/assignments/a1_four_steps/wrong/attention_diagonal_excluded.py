"""The diagonal is masked: a token cannot see itself, and the first sees nothing."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Which keys may token 0 see?",
    "concept": "Keys 0 to i include i.",
    "place": "In attention, use np.tri(L, S), with no k=-1.",
}
LOSES = ("attention.causal_small", "attention.causal", "attention.causal_lengths", "attention.causal_mask")


def attention(query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], k=-1, dtype=bool)
        mask = causal if mask is None else mask & causal
    scaled = scale_scores(scores(query, key), query.shape[-1])
    return weighted_sum(masked_softmax(scaled, mask), value)
