"""The causal mask is aligned to the lower right whatever align says."""

# ruff: noqa: F821

HINTS = {
    "question": "Which key does query 0 stand at when align is upper-left?",
    "concept": "The alignment decides which query is paired with which key.",
    "place": "In multi_head_attention, pass align on to causal_mask.",
}
LOSES = ("multi_head_attention.upper_left", "multi_head_attention.causal_mask")


def multi_head_attention(query, key, value, num_heads, num_kv_heads=None, mask=None, align=None):
    if align is not None:
        causal = causal_mask(query.shape[-2], key.shape[-2], "lower-right")
        mask = causal if mask is None else mask & causal
    key, value = (share_heads(split_heads(x, num_kv_heads or num_heads), num_heads) for x in (key, value))
    return merge_heads(attention(split_heads(query, num_heads), key, value, mask))
