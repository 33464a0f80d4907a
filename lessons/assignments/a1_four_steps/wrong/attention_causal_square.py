"""The causal mask has as many columns as there are queries, so it fails when L and S differ."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "What is the shape of the table when there are more keys than queries?",
    "concept": "The triangle has a row for each query and a column for each key.",
    "place": "In attention, use np.tri(L, S), with both sizes.",
}
LOSES = ("attention.causal_lengths", "attention.causal_mask")


def attention(query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    scaled = scale_scores(scores(query, key), query.shape[-1])
    return weighted_sum(masked_softmax(scaled, mask), value)
