"""The masks reach only the first head."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Does head 1 see the padding?",
    "concept": "A mask without an axis of heads, or with one of size 1, holds for all heads.",
    "place": "In multi_head_attention, let the mask broadcast over the heads.",
}
LOSES = (
    "multi_head_attention.padding",
    "multi_head_attention.mask",
    "multi_head_attention.empty_rows",
    "multi_head_attention.upper_left",
    "multi_head_attention.lower_right",
    "multi_head_attention.lower_right_empty",
    "multi_head_attention.causal_mask",
    "multi_head_attention.grouped_masked",
    "multi_head_attention.float32",
)


def multi_head_attention(query, key, value, num_heads, num_kv_heads=None, mask=None, align=None):
    if align is not None:
        causal = causal_mask(query.shape[-2], key.shape[-2], align)
        mask = causal if mask is None else mask & causal
    key, value = (share_heads(split_heads(x, num_kv_heads or num_heads), num_heads) for x in (key, value))
    if mask is not None:
        mask = np.array(np.broadcast_to(mask, (*key.shape[:-2], query.shape[-2], key.shape[-2])))
        mask[..., 1:, :, :] = True
    return merge_heads(attention(split_heads(query, num_heads), key, value, mask))
