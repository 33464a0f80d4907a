"""The scale is taken from the width of the values; it belongs to the keys."""

# ruff: noqa: F821
import math

import numpy as np
from a1_four_steps import masked_softmax

HINTS = {
    "question": "How many products are added up in one score of one head?",
    "concept": "The scale undoes the spread of a sum of E products: E is the width of a head of query and key.",
    "place": "In multi_head_attention, take the width from the heads of the query.",
}
LOSES = ("multi_head_attention.*",)


def multi_head_attention(query, key, value, num_heads, num_kv_heads=None, mask=None, align=None):
    if align is not None:
        causal = causal_mask(query.shape[-2], key.shape[-2], align)
        mask = causal if mask is None else mask & causal
    key, value = (share_heads(split_heads(x, num_kv_heads or num_heads), num_heads) for x in (key, value))
    scores = split_heads(query, num_heads) @ np.swapaxes(key, -1, -2) / math.sqrt(value.shape[-1])
    return merge_heads(masked_softmax(scores, mask) @ value)
