"""The scores are divided by the square root of the block's size; it must be that of E."""

# ruff: noqa: F821
import math

import numpy as np

HINTS = {
    "question": "Should the result depend on the size of the blocks?",
    "concept": "The scale undoes the spread of a sum of E products; blocks are our own affair.",
    "place": "In tiled_attention, divide the scores by math.sqrt(query.shape[-1]).",
}
LOSES = ("tiled_attention.*",)


def tiled_attention(query, key, value, mask=None, is_causal=False, block=64):
    L, S = query.shape[-2], key.shape[-2]
    peak = np.full(query.shape[:-1], -np.inf, dtype=query.dtype)
    total = np.zeros(query.shape[:-1], dtype=query.dtype)
    output = np.zeros((*query.shape[:-1], value.shape[-1]), dtype=query.dtype)
    for start in range(0, min(L, S) if is_causal else S, block):
        part = slice(start, start + block)
        scores = query @ np.swapaxes(key[..., part, :], -1, -2) / math.sqrt(block)
        if mask is not None:
            scores = np.where(mask[..., part], scores, -np.inf)
        if is_causal:
            scores = np.where(np.tri(L, scores.shape[-1], -start, dtype=bool), scores, -np.inf)
        peak, total, output = add_block(peak, total, output, scores, value[..., part, :])
    return output / np.where(total == 0, 1, total)[..., None]
