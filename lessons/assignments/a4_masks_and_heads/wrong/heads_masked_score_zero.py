"""Masked scores are set to 0, and exp(0) is 1: a masked key still takes a share."""

# ruff: noqa: F821
import math

import numpy as np
from a1_four_steps import masked_softmax

HINTS = {
    "question": "Which score gives a weight of 0?",
    "concept": "Only -inf has a weight of exactly 0; a score of 0 is an average one.",
    "place": "In multi_head_attention, put -inf in place of masked scores.",
}
LOSES = (
    "multi_head_attention.padding",
    "multi_head_attention.mask",
    "multi_head_attention.empty_rows",
    "multi_head_attention.upper_left",
    "multi_head_attention.lower_right",
    "multi_head_attention.lower_right_empty",
    "multi_head_attention.causal_mask",
    "multi_head_attention.grouped_masked",
    "multi_head_attention.float32",
)


def multi_head_attention(query, key, value, num_heads, num_kv_heads=None, mask=None, align=None):
    if align is not None:
        causal = causal_mask(query.shape[-2], key.shape[-2], align)
        mask = causal if mask is None else mask & causal
    key, value = (share_heads(split_heads(x, num_kv_heads or num_heads), num_heads) for x in (key, value))
    scores = split_heads(query, num_heads) @ np.swapaxes(key, -1, -2) / math.sqrt(key.shape[-1])
    return merge_heads(masked_softmax(scores if mask is None else scores * mask) @ value)
