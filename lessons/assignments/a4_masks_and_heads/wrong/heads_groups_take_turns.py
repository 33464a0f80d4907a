"""Query heads take turns with the heads of keys (0, 1, 0, 1); a group should stay together (0, 0, 1, 1)."""

# ruff: noqa: F821

HINTS = {
    "question": "Which head of the keys does query head 1 read from when two serve four?",
    "concept": "Query head h reads from head h // (H / Hkv).",
    "place": "In multi_head_attention, use share_heads.",
}
LOSES = ("multi_head_attention.grouped", "multi_head_attention.grouped_masked", "multi_head_attention.float32")


def multi_head_attention(query, key, value, num_heads, num_kv_heads=None, mask=None, align=None):
    if align is not None:
        causal = causal_mask(query.shape[-2], key.shape[-2], align)
        mask = causal if mask is None else mask & causal
    kv_heads = num_kv_heads or num_heads
    turns = [h % kv_heads for h in range(num_heads)]
    key, value = (split_heads(x, kv_heads)[..., turns, :, :] for x in (key, value))
    return merge_heads(attention(split_heads(query, num_heads), key, value, mask))
