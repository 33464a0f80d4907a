"""Queries and keys have changed places in the call of scores."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "How many rows should the table have?",
    "concept": "The output has one row for each query.",
    "place": "In attention, call scores(query, key).",
}
LOSES = ("attention.*",)


def attention(query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    scaled = scale_scores(scores(key, query), query.shape[-1])
    return weighted_sum(masked_softmax(scaled, mask), value)
