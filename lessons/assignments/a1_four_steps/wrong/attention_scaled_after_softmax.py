"""The weights are scaled after the softmax, so they no longer sum to 1."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "What do the weights add up to after the division?",
    "concept": "The scale acts on scores, before the softmax.",
    "place": "In attention, call scale_scores before masked_softmax.",
}
LOSES = ("attention.*",)


def attention(query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    weights = scale_scores(masked_softmax(scores(query, key), mask), query.shape[-1])
    return weighted_sum(weights, value)
