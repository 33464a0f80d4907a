"""A query that sees no key becomes NaN: -inf - (-inf), then 0 / 0."""

# ruff: noqa: F821
import math

import numpy as np

HINTS = {
    "question": "What is the maximum of a row of -inf, and what is left after subtracting it?",
    "concept": "A query that may attend to nothing has an output of zero by agreement.",
    "place": "In multi_head_attention, do not subtract a maximum of -inf, and do not divide by a sum of 0.",
}
LOSES = ("multi_head_attention.empty_rows", "multi_head_attention.lower_right_empty")


def multi_head_attention(query, key, value, num_heads, num_kv_heads=None, mask=None, align=None):
    if align is not None:
        causal = causal_mask(query.shape[-2], key.shape[-2], align)
        mask = causal if mask is None else mask & causal
    key, value = (share_heads(split_heads(x, num_kv_heads or num_heads), num_heads) for x in (key, value))
    scores = split_heads(query, num_heads) @ np.swapaxes(key, -1, -2) / math.sqrt(key.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return merge_heads(weights / np.sum(weights, axis=-1, keepdims=True) @ value)
