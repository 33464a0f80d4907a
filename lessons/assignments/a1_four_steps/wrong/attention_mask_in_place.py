"""The causal triangle is written into the caller's mask."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "What does the caller's mask hold after mask &= causal?",
    "concept": "An operator like &= writes into its argument.",
    "place": "In attention, write mask = mask & causal.",
}
LOSES = ("attention.causal_mask",)


def attention(query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        if mask is None:
            mask = causal
        else:
            mask &= causal
    scaled = scale_scores(scores(query, key), query.shape[-1])
    return weighted_sum(masked_softmax(scaled, mask), value)
