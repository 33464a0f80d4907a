"""Inputs with a batch or heads in front are not handled."""

# ruff: noqa: F821
import math

import numpy as np

HINTS = {
    "question": "What does query.shape hold for a batch?",
    "concept": "The dots in (..., L, E) stand for any number of axes.",
    "place": "In tiled_attention, use shape[-2] and shape[-1], and swapaxes instead of .T.",
}
LOSES = (
    "tiled_attention.blocks",
    "tiled_attention.default",
    "tiled_attention.far",
    "tiled_attention.mask",
    "tiled_attention.late",
    "tiled_attention.empty_rows",
    "tiled_attention.causal",
    "tiled_attention.causal_lengths",
    "tiled_attention.causal_mask",
    "tiled_attention.float32",
)


def tiled_attention(query, key, value, mask=None, is_causal=False, block=64):
    (L, E), S = query.shape, len(key)
    peak = np.full(query.shape[:-1], -np.inf, dtype=query.dtype)
    total = np.zeros(query.shape[:-1], dtype=query.dtype)
    output = np.zeros((*query.shape[:-1], value.shape[-1]), dtype=query.dtype)
    for start in range(0, min(L, S) if is_causal else S, block):
        part = slice(start, start + block)
        scores = query @ np.swapaxes(key[..., part, :], -1, -2) / math.sqrt(E)
        if mask is not None:
            scores = np.where(mask[..., part], scores, -np.inf)
        if is_causal:
            scores = np.where(np.tri(L, scores.shape[-1], -start, dtype=bool), scores, -np.inf)
        peak, total, output = add_block(peak, total, output, scores, value[..., part, :])
    return output / np.where(total == 0, 1, total)[..., None]
