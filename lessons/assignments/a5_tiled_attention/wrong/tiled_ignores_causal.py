"""is_causal is not used."""

# ruff: noqa: F821
import math

import numpy as np

HINTS = {
    "question": "What should change when is_causal is True?",
    "concept": "Query i sees the keys 0 to i, whichever block they lie in.",
    "place": "In tiled_attention, hide the keys of a block that come after the query.",
}
LOSES = (
    "tiled_attention.causal",
    "tiled_attention.causal_lengths",
    "tiled_attention.causal_mask",
    "tiled_attention.float32",
    "tiled_attention.memory_causal",
)


def tiled_attention(query, key, value, mask=None, is_causal=False, block=64):
    S = key.shape[-2]
    peak = np.full(query.shape[:-1], -np.inf, dtype=query.dtype)
    total = np.zeros(query.shape[:-1], dtype=query.dtype)
    output = np.zeros((*query.shape[:-1], value.shape[-1]), dtype=query.dtype)
    for start in range(0, S, block):
        part = slice(start, start + block)
        scores = query @ np.swapaxes(key[..., part, :], -1, -2) / math.sqrt(query.shape[-1])
        if mask is not None:
            scores = np.where(mask[..., part], scores, -np.inf)
        peak, total, output = add_block(peak, total, output, scores, value[..., part, :])
    return output / np.where(total == 0, 1, total)[..., None]
