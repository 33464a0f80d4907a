"""The causal mask starts at the upper left whatever align says."""

# ruff: noqa: F821

HINTS = {
    "question": "Which key does the last query stand at when align is lower-right?",
    "concept": "The alignment decides which query is paired with which key.",
    "place": "In multi_head_attention, pass align on to causal_mask.",
}
LOSES = (
    "multi_head_attention.lower_right",
    "multi_head_attention.lower_right_empty",
    "multi_head_attention.causal_mask",
    "multi_head_attention.grouped_masked",
    "multi_head_attention.float32",
)


def multi_head_attention(query, key, value, num_heads, num_kv_heads=None, mask=None, align=None):
    if align is not None:
        causal = causal_mask(query.shape[-2], key.shape[-2])
        mask = causal if mask is None else mask & causal
    key, value = (share_heads(split_heads(x, num_kv_heads or num_heads), num_heads) for x in (key, value))
    return merge_heads(attention(split_heads(query, num_heads), key, value, mask))
