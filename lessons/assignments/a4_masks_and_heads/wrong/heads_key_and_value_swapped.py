"""Keys and values have changed places."""

# ruff: noqa: F821

HINTS = {
    "question": "What are the queries compared with?",
    "concept": "Queries meet keys, weights meet values.",
    "place": "In multi_head_attention, look at the order of the arguments of attention.",
}
LOSES = ("multi_head_attention.*",)


def multi_head_attention(query, key, value, num_heads, num_kv_heads=None, mask=None, align=None):
    if align is not None:
        causal = causal_mask(query.shape[-2], key.shape[-2], align)
        mask = causal if mask is None else mask & causal
    key, value = (share_heads(split_heads(x, num_kv_heads or num_heads), num_heads) for x in (key, value))
    return merge_heads(attention(split_heads(query, num_heads), value, key, mask))
