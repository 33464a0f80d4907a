"""Attention is causal also where align is None."""

# ruff: noqa: F821

HINTS = {
    "question": "What does align=None ask for?",
    "concept": "Without align every key may be seen, but for the mask.",
    "place": "In multi_head_attention, use causal_mask only if align is not None.",
}
LOSES = (
    "multi_head_attention.small",
    "multi_head_attention.batch",
    "multi_head_attention.one_head",
    "multi_head_attention.large",
    "multi_head_attention.padding",
    "multi_head_attention.mask",
    "multi_head_attention.empty_rows",
    "multi_head_attention.grouped",
)


def multi_head_attention(query, key, value, num_heads, num_kv_heads=None, mask=None, align=None):
    causal = causal_mask(query.shape[-2], key.shape[-2], align or "upper-left")
    mask = causal if mask is None else mask & causal
    key, value = (share_heads(split_heads(x, num_kv_heads or num_heads), num_heads) for x in (key, value))
    return merge_heads(attention(split_heads(query, num_heads), key, value, mask))
