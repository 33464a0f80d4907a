"""The heads are not split: one head attends with the whole width."""

# ruff: noqa: F821

HINTS = {
    "question": "How many tables of weights are there for one sequence?",
    "concept": "H heads make H tables, each from its own columns.",
    "place": "In multi_head_attention, split query, key and value before attention.",
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
    return attention(query, key, value, mask)
