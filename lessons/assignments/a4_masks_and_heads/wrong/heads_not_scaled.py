"""The scores of the heads are not divided by the square root of their width."""

# ruff: noqa: F821
import numpy as np
from a1_four_steps import masked_softmax

HINTS = {
    "question": "Which variance do the scores of a head have?",
    "concept": "Each head is an attention of its own, scale included.",
    "place": "In multi_head_attention, divide the scores by the square root of the head's width, or call attention.",
}
LOSES = ("multi_head_attention.*",)


def multi_head_attention(query, key, value, num_heads, num_kv_heads=None, mask=None, align=None):
    if align is not None:
        causal = causal_mask(query.shape[-2], key.shape[-2], align)
        mask = causal if mask is None else mask & causal
    key, value = (share_heads(split_heads(x, num_kv_heads or num_heads), num_heads) for x in (key, value))
    scores = split_heads(query, num_heads) @ np.swapaxes(key, -1, -2)
    return merge_heads(masked_softmax(scores, mask) @ value)
