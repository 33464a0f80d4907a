"""The last block is filled up with keys of zeros, which score 0 and take a share."""

# ruff: noqa: F821
import math

import numpy as np

HINTS = {
    "question": "What weight does a key get whose score is 0?",
    "concept": "Only a score of -inf has no weight; better still, let the last block be shorter.",
    "place": "In tiled_attention, do not fill up key and value, or mask what was added.",
}
LOSES = (
    "tiled_attention.small",
    "tiled_attention.blocks",
    "tiled_attention.default",
    "tiled_attention.far",
    "tiled_attention.mask",
    "tiled_attention.late",
    "tiled_attention.empty_rows",
    "tiled_attention.causal_lengths",
)


def tiled_attention(query, key, value, mask=None, is_causal=False, block=64):
    L, S = query.shape[-2], key.shape[-2]
    fill = [(0, 0)] * (key.ndim - 2) + [(0, -S % block), (0, 0)]
    key, value = np.pad(key, fill), np.pad(value, fill)
    if mask is not None:
        mask = np.pad(mask, [(0, 0)] * (mask.ndim - 1) + [(0, -S % block)], constant_values=True)
    peak = np.full(query.shape[:-1], -np.inf, dtype=query.dtype)
    total = np.zeros(query.shape[:-1], dtype=query.dtype)
    output = np.zeros((*query.shape[:-1], value.shape[-1]), dtype=query.dtype)
    for start in range(0, S, block):
        part = slice(start, start + block)
        scores = query @ np.swapaxes(key[..., part, :], -1, -2) / math.sqrt(query.shape[-1])
        if mask is not None:
            scores = np.where(mask[..., part], scores, -np.inf)
        if is_causal:
            scores = np.where(np.tri(L, scores.shape[-1], -start, dtype=bool), scores, -np.inf)
        peak, total, output = add_block(peak, total, output, scores, value[..., part, :])
    return output / np.where(total == 0, 1, total)[..., None]
