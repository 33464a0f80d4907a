"""The mask gets an axis for the heads, although it already broadcasts to (..., H, L, S)."""

# ruff: noqa: F821

HINTS = {
    "question": "Which shape has the mask after mask[..., None, :, :], and which have the scores?",
    "concept": "Axes line up from the right: (L, S) and (B, 1, 1, S) fit as they are.",
    "place": "In multi_head_attention, leave the mask's axes alone.",
}
LOSES = (
    "multi_head_attention.padding",
    "multi_head_attention.mask",
    "multi_head_attention.empty_rows",
    "multi_head_attention.causal_mask",
    "multi_head_attention.grouped_masked",
)


def multi_head_attention(query, key, value, num_heads, num_kv_heads=None, mask=None, align=None):
    if mask is not None:
        mask = mask[:, None]
    if align is not None:
        causal = causal_mask(query.shape[-2], key.shape[-2], align)
        mask = causal if mask is None else mask & causal
    key, value = (share_heads(split_heads(x, num_kv_heads or num_heads), num_heads) for x in (key, value))
    return merge_heads(attention(split_heads(query, num_heads), key, value, mask))
