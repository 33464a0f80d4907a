"""The query is divided in place, so the caller's array changes."""

# ruff: noqa: F821
import math

import numpy as np
from a1_four_steps import masked_softmax

HINTS = {
    "question": "What does the caller's query hold after the call?",
    "concept": "An operator like /= writes into its argument, and a reshape may share memory with it.",
    "place": "In multi_head_attention, make a new array: query = query / factor.",
}
LOSES = ("multi_head_attention.*",)


def multi_head_attention(query, key, value, num_heads, num_kv_heads=None, mask=None, align=None):
    if align is not None:
        causal = causal_mask(query.shape[-2], key.shape[-2], align)
        mask = causal if mask is None else mask & causal
    key, value = (share_heads(split_heads(x, num_kv_heads or num_heads), num_heads) for x in (key, value))
    query = split_heads(query, num_heads)
    query /= math.sqrt(key.shape[-1])
    return merge_heads(masked_softmax(query @ np.swapaxes(key, -1, -2), mask) @ value)
