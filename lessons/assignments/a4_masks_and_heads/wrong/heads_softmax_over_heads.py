"""The softmax runs over the heads, so the heads share a weight among them and not the keys."""

# ruff: noqa: F821
import math

import numpy as np

HINTS = {
    "question": "What do the weights of one query in one head add up to?",
    "concept": "Each head has a softmax of its own, over the keys: the last axis.",
    "place": "In multi_head_attention, the softmax belongs on the last axis of (..., H, L, S).",
}
LOSES = ("multi_head_attention.*",)


def multi_head_attention(query, key, value, num_heads, num_kv_heads=None, mask=None, align=None):
    if align is not None:
        causal = causal_mask(query.shape[-2], key.shape[-2], align)
        mask = causal if mask is None else mask & causal
    key, value = (share_heads(split_heads(x, num_kv_heads or num_heads), num_heads) for x in (key, value))
    scores = split_heads(query, num_heads) @ np.swapaxes(key, -1, -2) / math.sqrt(key.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    peak = np.max(scores, axis=-3, keepdims=True)
    weights = np.exp(scores - np.where(np.isneginf(peak), 0, peak))
    total = np.sum(weights, axis=-3, keepdims=True)
    return merge_heads(weights / np.where(total == 0, 1, total) @ value)
