"""Whole blocks are hidden or seen: within the block of its own place a query sees the future."""

# ruff: noqa: F821
import math

import numpy as np

HINTS = {
    "question": "May query 5 see key 7 when both lie in one block?",
    "concept": "The diagonal runs through blocks, so some of them need a triangle.",
    "place": "In tiled_attention, compare every key's number with the query's, not only that of the block.",
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
            scores = np.where((np.arange(L) >= start)[:, None], scores, -np.inf)
        peak, total, output = add_block(peak, total, output, scores, value[..., part, :])
    return output / np.where(total == 0, 1, total)[..., None]
