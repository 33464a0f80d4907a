"""The mask is not used."""

# ruff: noqa: F821

HINTS = {
    "question": "What should change when a mask is given?",
    "concept": "The mask broadcasts to the scores of all heads, (..., H, L, S).",
    "place": "In multi_head_attention, pass the mask on to attention.",
}
LOSES = (
    "multi_head_attention.padding",
    "multi_head_attention.mask",
    "multi_head_attention.empty_rows",
    "multi_head_attention.causal_mask",
    "multi_head_attention.grouped_masked",
)


def multi_head_attention(query, key, value, num_heads, num_kv_heads=None, mask=None, align=None):
    mask = None if align is None else causal_mask(query.shape[-2], key.shape[-2], align)
    key, value = (share_heads(split_heads(x, num_kv_heads or num_heads), num_heads) for x in (key, value))
    return merge_heads(attention(split_heads(query, num_heads), key, value, mask))
