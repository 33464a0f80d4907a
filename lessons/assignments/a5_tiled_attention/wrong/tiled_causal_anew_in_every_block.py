"""The triangle starts anew in every block."""

# ruff: noqa: F821
import math

import numpy as np

HINTS = {
    "question": "Which number has the first key of the second block?",
    "concept": "The keys of a block are numbered from start on; compare these with the query's number.",
    "place": "In tiled_attention, shift the triangle by start.",
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
    for start in range(0, min(L, S) if is_causal else S, block):
        part = slice(start, start + block)
        scores = query @ np.swapaxes(key[..., part, :], -1, -2) / math.sqrt(query.shape[-1])
        if mask is not None:
            scores = np.where(mask[..., part], scores, -np.inf)
        if is_causal:
            scores = np.where(np.tri(L, scores.shape[-1], dtype=bool), scores, -np.inf)
        peak, total, output = add_block(peak, total, output, scores, value[..., part, :])
    return output / np.where(total == 0, 1, total)[..., None]
