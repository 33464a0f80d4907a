"""The heads are not merged."""

# ruff: noqa: F821

HINTS = {
    "question": "How many axes should the result have?",
    "concept": "Split at the start, merge at the end: the result looks like the query.",
    "place": "In multi_head_attention, call merge_heads on the output.",
}
LOSES = ("multi_head_attention.*",)


def multi_head_attention(query, key, value, num_heads, num_kv_heads=None, mask=None, align=None):
    if align is not None:
        causal = causal_mask(query.shape[-2], key.shape[-2], align)
        mask = causal if mask is None else mask & causal
    key, value = (share_heads(split_heads(x, num_kv_heads or num_heads), num_heads) for x in (key, value))
    return attention(split_heads(query, num_heads), key, value, mask)
