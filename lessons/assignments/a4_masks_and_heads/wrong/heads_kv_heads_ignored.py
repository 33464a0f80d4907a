"""num_kv_heads is not used: key and value are split into as many heads as the query."""

# ruff: noqa: F821

HINTS = {
    "question": "Into how many heads must a key of width Hkv*E be split?",
    "concept": "Grouped heads: there are fewer heads of keys and values than of queries.",
    "place": "In multi_head_attention, split key and value with num_kv_heads, then share them.",
}
LOSES = ("multi_head_attention.grouped", "multi_head_attention.grouped_masked", "multi_head_attention.float32")


def multi_head_attention(query, key, value, num_heads, num_kv_heads=None, mask=None, align=None):
    if align is not None:
        causal = causal_mask(query.shape[-2], key.shape[-2], align)
        mask = causal if mask is None else mask & causal
    query, key, value = (split_heads(x, num_heads) for x in (query, key, value))
    return merge_heads(attention(query, key, value, mask))
