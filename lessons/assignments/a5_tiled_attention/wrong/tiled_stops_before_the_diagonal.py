"""The loop stops before the block that the last query stands in."""

# ruff: noqa: F821
import math

import numpy as np

HINTS = {
    "question": "Which keys does the last query see?",
    "concept": "A block is of no use only when all of its keys come after all queries.",
    "place": "In tiled_attention, stop where start reaches L, not where the end of the block passes it.",
}
LOSES = (
    "tiled_attention.causal",
    "tiled_attention.causal_lengths",
    "tiled_attention.causal_mask",
    "tiled_attention.float32",
)


def tiled_attention(query, key, value, mask=None, is_causal=False, block=64):
    L, S = query.shape[-2], key.shape[-2]
    peak = np.full(query.shape[:-1], -np.inf, dtype=query.dtype)
    total = np.zeros(query.shape[:-1], dtype=query.dtype)
    output = np.zeros((*query.shape[:-1], value.shape[-1]), dtype=query.dtype)
    for start in range(0, min(L, S) if is_causal else S, block):
        if is_causal and start + block > L:
            break
        part = slice(start, start + block)
        scores = query @ np.swapaxes(key[..., part, :], -1, -2) / math.sqrt(query.shape[-1])
        if mask is not None:
            scores = np.where(mask[..., part], scores, -np.inf)
        if is_causal:
            scores = np.where(np.tri(L, scores.shape[-1], -start, dtype=bool), scores, -np.inf)
        peak, total, output = add_block(peak, total, output, scores, value[..., part, :])
    return output / np.where(total == 0, 1, total)[..., None]
