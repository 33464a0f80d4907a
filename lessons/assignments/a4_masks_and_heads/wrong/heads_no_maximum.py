"""The row's maximum is not subtracted before exp, which overflows at 709."""

# ruff: noqa: F821
import math

import numpy as np

HINTS = {
    "question": "What is exp(1000) in float64?",
    "concept": "Subtracting the largest score of a row changes nothing in the weights, and keeps exp in range.",
    "place": "In multi_head_attention, subtract the row's maximum, or call attention.",
}
LOSES = ("multi_head_attention.large",)


def multi_head_attention(query, key, value, num_heads, num_kv_heads=None, mask=None, align=None):
    if align is not None:
        causal = causal_mask(query.shape[-2], key.shape[-2], align)
        mask = causal if mask is None else mask & causal
    key, value = (share_heads(split_heads(x, num_kv_heads or num_heads), num_heads) for x in (key, value))
    scores = split_heads(query, num_heads) @ np.swapaxes(key, -1, -2) / math.sqrt(key.shape[-1])
    weights = np.exp(scores)
    if mask is not None:
        weights = weights * mask
    total = np.sum(weights, axis=-1, keepdims=True)
    return merge_heads(weights / np.where(total == 0, 1, total) @ value)
