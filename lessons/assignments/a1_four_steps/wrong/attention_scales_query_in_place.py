"""The query is scaled in place, so the caller's array changes."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "What does the caller's query hold after query /= 2?",
    "concept": "An operator like /= writes into its argument.",
    "place": "In attention, make a new array: query = query / ...",
}
LOSES = ("attention.*",)


def attention(query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    query /= query.shape[-1] ** 0.5
    scaled = scores(query, key)
    return weighted_sum(masked_softmax(scaled, mask), value)
