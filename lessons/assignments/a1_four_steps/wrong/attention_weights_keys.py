"""The weights are applied to the keys; it is the values that are mixed."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "What is the third input for?",
    "concept": "Keys decide where to look, values are what is found there.",
    "place": "In attention, the last step needs value, not key.",
}
LOSES = ("attention.*",)


def attention(query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    scaled = scale_scores(scores(query, key), query.shape[-1])
    return weighted_sum(masked_softmax(scaled, mask), key)
