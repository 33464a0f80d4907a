"""Every query head reads from the first head of the keys and values."""

# ruff: noqa: F821

HINTS = {
    "question": "Who reads from the second head?",
    "concept": "Only with a single head of keys do all read from it.",
    "place": "In multi_head_attention, use share_heads.",
}
LOSES = ("multi_head_attention.grouped", "multi_head_attention.grouped_masked", "multi_head_attention.float32")


def multi_head_attention(query, key, value, num_heads, num_kv_heads=None, mask=None, align=None):
    if align is not None:
        causal = causal_mask(query.shape[-2], key.shape[-2], align)
        mask = causal if mask is None else mask & causal
    key, value = (split_heads(x, num_kv_heads or num_heads) for x in (key, value))
    if num_kv_heads is not None:
        key, value = (x[..., :1, :, :] for x in (key, value))
    return merge_heads(attention(split_heads(query, num_heads), key, value, mask))
