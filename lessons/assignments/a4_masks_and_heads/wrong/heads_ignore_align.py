"""align is not used: the future is seen."""

# ruff: noqa: F821

HINTS = {
    "question": "What should change when align is given?",
    "concept": "align asks for a causal mask with that alignment; None is no causal mask.",
    "place": "In multi_head_attention, combine causal_mask with the mask.",
}
LOSES = (
    "multi_head_attention.upper_left",
    "multi_head_attention.lower_right",
    "multi_head_attention.lower_right_empty",
    "multi_head_attention.causal_mask",
    "multi_head_attention.grouped_masked",
    "multi_head_attention.float32",
)


def multi_head_attention(query, key, value, num_heads, num_kv_heads=None, mask=None, align=None):
    key, value = (share_heads(split_heads(x, num_kv_heads or num_heads), num_heads) for x in (key, value))
    return merge_heads(attention(split_heads(query, num_heads), key, value, mask))
