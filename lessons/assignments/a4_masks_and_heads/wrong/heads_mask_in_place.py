"""The causal triangle is written into the caller's mask."""

# ruff: noqa: F821

HINTS = {
    "question": "What does the caller's mask hold after mask &= causal?",
    "concept": "An operator like &= writes into its argument, and cannot make it larger.",
    "place": "In multi_head_attention, write mask = mask & causal.",
}
LOSES = ("multi_head_attention.causal_mask", "multi_head_attention.grouped_masked")


def multi_head_attention(query, key, value, num_heads, num_kv_heads=None, mask=None, align=None):
    if align is not None:
        causal = causal_mask(query.shape[-2], key.shape[-2], align)
        if mask is None:
            mask = causal
        else:
            mask &= causal
    key, value = (share_heads(split_heads(x, num_kv_heads or num_heads), num_heads) for x in (key, value))
    return merge_heads(attention(split_heads(query, num_heads), key, value, mask))
