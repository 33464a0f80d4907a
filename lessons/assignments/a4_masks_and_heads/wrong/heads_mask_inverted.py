"""The mask is read the wrong way round: True was taken for hidden."""

# ruff: noqa: F821

HINTS = {
    "question": "What does True mean in this mask?",
    "concept": "True = may attend; torch.nn.MultiheadAttention means the opposite.",
    "place": "In multi_head_attention, use the mask as it is.",
}
LOSES = (
    "multi_head_attention.padding",
    "multi_head_attention.mask",
    "multi_head_attention.empty_rows",
    "multi_head_attention.causal_mask",
    "multi_head_attention.grouped_masked",
)


def multi_head_attention(query, key, value, num_heads, num_kv_heads=None, mask=None, align=None):
    mask = None if mask is None else ~mask
    if align is not None:
        causal = causal_mask(query.shape[-2], key.shape[-2], align)
        mask = causal if mask is None else mask & causal
    key, value = (share_heads(split_heads(x, num_kv_heads or num_heads), num_heads) for x in (key, value))
    return merge_heads(attention(split_heads(query, num_heads), key, value, mask))
