"""A large negative number stands for -inf, so a query that sees no key gets the mean of all values."""

# ruff: noqa: F821
import math

import numpy as np

HINTS = {
    "question": "What is the softmax of a row that is -1e9 everywhere?",
    "concept": "The softmax only sees differences; a row of equal scores is uniform, however small they are.",
    "place": "In multi_head_attention, set the output of queries without an allowed key to zero.",
}
LOSES = ("multi_head_attention.empty_rows", "multi_head_attention.lower_right_empty")


def multi_head_attention(query, key, value, num_heads, num_kv_heads=None, mask=None, align=None):
    if align is not None:
        causal = causal_mask(query.shape[-2], key.shape[-2], align)
        mask = causal if mask is None else mask & causal
    key, value = (share_heads(split_heads(x, num_kv_heads or num_heads), num_heads) for x in (key, value))
    scores = split_heads(query, num_heads) @ np.swapaxes(key, -1, -2) / math.sqrt(key.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -1e9)
    weights = np.exp(scores - np.max(scores, axis=-1, keepdims=True))
    return merge_heads(weights / np.sum(weights, axis=-1, keepdims=True) @ value)
