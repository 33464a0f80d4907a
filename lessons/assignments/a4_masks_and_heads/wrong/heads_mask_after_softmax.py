"""The mask zeroes weights after the softmax, so the rows no longer sum to 1."""

# ruff: noqa: F821
import math

import numpy as np
from a1_four_steps import masked_softmax

HINTS = {
    "question": "What do the weights of a masked row add up to?",
    "concept": "The mask must act before the normalisation: a masked key takes no share.",
    "place": "In multi_head_attention, mask the scores before the softmax.",
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
    weights = masked_softmax(split_heads(query, num_heads) @ np.swapaxes(key, -1, -2) / math.sqrt(key.shape[-1]))
    return merge_heads((weights if mask is None else weights * mask) @ value)
