"""A mask that is given takes the place of the causal one."""

# ruff: noqa: F821

HINTS = {
    "question": "Which keys may a query see when both are asked for?",
    "concept": "Both hold: a key must be allowed by the one and the other.",
    "place": "In multi_head_attention, combine them with &.",
}
LOSES = ("multi_head_attention.causal_mask", "multi_head_attention.grouped_masked")


def multi_head_attention(query, key, value, num_heads, num_kv_heads=None, mask=None, align=None):
    if align is not None and mask is None:
        mask = causal_mask(query.shape[-2], key.shape[-2], align)
    key, value = (share_heads(split_heads(x, num_kv_heads or num_heads), num_heads) for x in (key, value))
    return merge_heads(attention(split_heads(query, num_heads), key, value, mask))
