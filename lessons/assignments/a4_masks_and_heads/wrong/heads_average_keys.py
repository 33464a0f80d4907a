"""The keys are averaged where the values should be: the weights meet the keys."""

# ruff: noqa: F821

HINTS = {
    "question": "What is it that a query receives from a key that matches?",
    "concept": "Queries meet keys, weights meet values.",
    "place": "In multi_head_attention, the weights multiply the values.",
}
LOSES = ("multi_head_attention.*",)


def multi_head_attention(query, key, value, num_heads, num_kv_heads=None, mask=None, align=None):
    if align is not None:
        causal = causal_mask(query.shape[-2], key.shape[-2], align)
        mask = causal if mask is None else mask & causal
    key = share_heads(split_heads(key, num_kv_heads or num_heads), num_heads)
    return merge_heads(attention(split_heads(query, num_heads), key, key, mask))
