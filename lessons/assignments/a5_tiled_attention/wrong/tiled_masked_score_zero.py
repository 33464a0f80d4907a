"""Masked scores are set to 0, and exp(0 - peak) is not 0."""

# ruff: noqa: F821
import math

import numpy as np

HINTS = {
    "question": "Which score gives a weight of 0?",
    "concept": "Only -inf has a weight of exactly 0.",
    "place": "In tiled_attention, put -inf in place of masked scores.",
}
LOSES = ("tiled_attention.mask", "tiled_attention.late", "tiled_attention.empty_rows", "tiled_attention.causal_mask")


def tiled_attention(query, key, value, mask=None, is_causal=False, block=64):
    L, S = query.shape[-2], key.shape[-2]
    peak = np.full(query.shape[:-1], -np.inf, dtype=query.dtype)
    total = np.zeros(query.shape[:-1], dtype=query.dtype)
    output = np.zeros((*query.shape[:-1], value.shape[-1]), dtype=query.dtype)
    for start in range(0, min(L, S) if is_causal else S, block):
        part = slice(start, start + block)
        scores = query @ np.swapaxes(key[..., part, :], -1, -2) / math.sqrt(query.shape[-1])
        if mask is not None:
            scores = np.where(mask[..., part], scores, 0)
        if is_causal:
            scores = np.where(np.tri(L, scores.shape[-1], -start, dtype=bool), scores, -np.inf)
        peak, total, output = add_block(peak, total, output, scores, value[..., part, :])
    return output / np.where(total == 0, 1, total)[..., None]
