"""The upper triangle is kept, so each query sees the future and not the past."""

# ruff: noqa: F821
import math

import numpy as np

HINTS = {
    "question": "Row i is query i; which columns are its past?",
    "concept": "A causal mask is lower triangular.",
    "place": "In tiled_attention, keep the keys whose number is not above the query's.",
}
LOSES = (
    "tiled_attention.causal",
    "tiled_attention.causal_lengths",
    "tiled_attention.causal_mask",
    "tiled_attention.float32",
    "tiled_attention.memory_causal",
)


def tiled_attention(query, key, value, mask=None, is_causal=False, block=64):
    L, S = query.shape[-2], key.shape[-2]
    peak = np.full(query.shape[:-1], -np.inf, dtype=query.dtype)
    total = np.zeros(query.shape[:-1], dtype=query.dtype)
    output = np.zeros((*query.shape[:-1], value.shape[-1]), dtype=query.dtype)
    for start in range(0, S, block):
        part = slice(start, start + block)
        scores = query @ np.swapaxes(key[..., part, :], -1, -2) / math.sqrt(query.shape[-1])
        if mask is not None:
            scores = np.where(mask[..., part], scores, -np.inf)
        if is_causal:
            scores = np.where(~np.tri(L, scores.shape[-1], -start - 1, dtype=bool), scores, -np.inf)
        peak, total, output = add_block(peak, total, output, scores, value[..., part, :])
    return output / np.where(total == 0, 1, total)[..., None]
