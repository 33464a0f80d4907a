"""The heads are merged by a reshape alone, which mixes heads and tokens."""

# ruff: noqa: F821

HINTS = {
    "question": "Where in memory do the heads of the first token lie?",
    "concept": "Swap the axes of heads and tokens first, then reshape.",
    "place": "In multi_head_attention, use merge_heads.",
}
LOSES = (
    "multi_head_attention.small",
    "multi_head_attention.batch",
    "multi_head_attention.large",
    "multi_head_attention.padding",
    "multi_head_attention.mask",
    "multi_head_attention.empty_rows",
    "multi_head_attention.upper_left",
    "multi_head_attention.lower_right",
    "multi_head_attention.lower_right_empty",
    "multi_head_attention.causal_mask",
    "multi_head_attention.grouped",
    "multi_head_attention.grouped_masked",
    "multi_head_attention.float32",
)


def multi_head_attention(query, key, value, num_heads, num_kv_heads=None, mask=None, align=None):
    if align is not None:
        causal = causal_mask(query.shape[-2], key.shape[-2], align)
        mask = causal if mask is None else mask & causal
    key, value = (share_heads(split_heads(x, num_kv_heads or num_heads), num_heads) for x in (key, value))
    return attention(split_heads(query, num_heads), key, value, mask).reshape(*query.shape[:-1], -1)
