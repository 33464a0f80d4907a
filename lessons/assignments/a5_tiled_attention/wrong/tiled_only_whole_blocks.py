"""The number of keys must be a multiple of the block; it may be any."""

# ruff: noqa: F821
import math

import numpy as np

HINTS = {
    "question": "With 13 keys and blocks of 5, how long is the last block?",
    "concept": "The last block may be shorter; slices past the end are cut by NumPy.",
    "place": "In tiled_attention, slice the keys instead of reshaping them into blocks.",
}
LOSES = (
    "tiled_attention.small",
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
    L, S = query.shape[-2], key.shape[-2]
    peak = np.full(query.shape[:-1], -np.inf, dtype=query.dtype)
    total = np.zeros(query.shape[:-1], dtype=query.dtype)
    output = np.zeros((*query.shape[:-1], value.shape[-1]), dtype=query.dtype)
    blocks = key.reshape(*key.shape[:-2], S // block, block, key.shape[-1])
    for start in range(0, min(L, S) if is_causal else S, block):
        part = slice(start, start + block)
        scores = query @ np.swapaxes(blocks[..., start // block, :, :], -1, -2) / math.sqrt(query.shape[-1])
        if mask is not None:
            scores = np.where(mask[..., part], scores, -np.inf)
        if is_causal:
            scores = np.where(np.tri(L, scores.shape[-1], -start, dtype=bool), scores, -np.inf)
        peak, total, output = add_block(peak, total, output, scores, value[..., part, :])
    return output / np.where(total == 0, 1, total)[..., None]
