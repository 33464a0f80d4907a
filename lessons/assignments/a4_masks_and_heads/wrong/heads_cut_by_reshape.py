"""Heads are split and merged by reshapes alone, which cut tokens apart."""

# ruff: noqa: F821

HINTS = {
    "question": "Which numbers of the first token end up in head 1?",
    "concept": "Split the last axis in two, then swap the axes of tokens and heads; and back again at the end.",
    "place": "In multi_head_attention, use split_heads and merge_heads.",
}
LOSES = (
    "multi_head_attention.small",
    "multi_head_attention.batch",
    "multi_head_attention.large",
    "multi_head_attention.padding",
    "multi_head_attention.mask",
    "multi_head_attention.empty_rows",
    "multi_head_attention.upper_left",
    "multi_head_attention.lower_right",
    "multi_head_attention.lower_right_empty",
    "multi_head_attention.causal_mask",
    "multi_head_attention.grouped",
    "multi_head_attention.grouped_masked",
    "multi_head_attention.float32",
)


def multi_head_attention(query, key, value, num_heads, num_kv_heads=None, mask=None, align=None):
    if align is not None:
        causal = causal_mask(query.shape[-2], key.shape[-2], align)
        mask = causal if mask is None else mask & causal

    def cut(x, heads):
        return x.reshape(*x.shape[:-2], heads, x.shape[-2], x.shape[-1] // heads)

    key, value = (share_heads(cut(x, num_kv_heads or num_heads), num_heads) for x in (key, value))
    output = attention(cut(query, num_heads), key, value, mask)
    return output.reshape(*query.shape[:-1], -1)
