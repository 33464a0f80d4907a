"""The keys are shared among the query heads, the values are not."""

# ruff: noqa: F821

HINTS = {
    "question": "How many heads have the weights, and how many the values?",
    "concept": "Keys and values come in pairs: what holds for the one holds for the other.",
    "place": "In multi_head_attention, call share_heads on the values too.",
}
LOSES = ("multi_head_attention.grouped", "multi_head_attention.grouped_masked", "multi_head_attention.float32")


def multi_head_attention(query, key, value, num_heads, num_kv_heads=None, mask=None, align=None):
    if align is not None:
        causal = causal_mask(query.shape[-2], key.shape[-2], align)
        mask = causal if mask is None else mask & causal
    key, value = (split_heads(x, num_kv_heads or num_heads) for x in (key, value))
    return merge_heads(attention(split_heads(query, num_heads), share_heads(key, num_heads), value, mask))
