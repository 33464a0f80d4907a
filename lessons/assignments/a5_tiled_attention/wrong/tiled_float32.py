"""The output is float32 although the inputs are float64."""

# ruff: noqa: F821
import math

import numpy as np

HINTS = {
    "question": "What is the dtype of your result, and what was that of the inputs?",
    "concept": "A result keeps the precision of its inputs.",
    "place": "In tiled_attention, remove the conversion to float32.",
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
    "tiled_attention.memory",
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
            scores = np.where(np.tri(L, scores.shape[-1], -start, dtype=bool), scores, -np.inf)
        peak, total, output = add_block(peak, total, output, scores, value[..., part, :])
    return (output / np.where(total == 0, 1, total)[..., None]).astype(np.float32)
