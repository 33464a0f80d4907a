"""The weights are returned; the output is their sum over the values."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "How wide is the output?",
    "concept": "The fourth step mixes the values by the weights.",
    "place": "In attention, return weighted_sum(weights, value).",
}
LOSES = ("attention.*",)


def attention(query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    scaled = scale_scores(scores(query, key), query.shape[-1])
    return masked_softmax(scaled, mask)
