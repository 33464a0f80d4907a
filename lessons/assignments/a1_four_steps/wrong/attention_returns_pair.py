"""Two results are returned; only the output is asked for."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "How many things does the handout's table say are returned?",
    "concept": "A tuple is not an array.",
    "place": "In attention, return the output alone.",
}
LOSES = ("attention.*",)


def attention(query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    scaled = scale_scores(scores(query, key), query.shape[-1])
    weights = masked_softmax(scaled, mask)
    return weighted_sum(weights, value), weights
