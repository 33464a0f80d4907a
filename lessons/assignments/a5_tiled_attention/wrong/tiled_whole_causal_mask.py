"""The causal mask is held as a whole; its size is L times S, though a byte each."""

# ruff: noqa: F821
import math

import numpy as np

HINTS = {
    "question": "How large is np.tri(L, S) for 100,000 tokens?",
    "concept": "Whether key j comes after query i can be computed for the keys of one block.",
    "place": "In tiled_attention, compare np.arange(L)[:, None] with the numbers of the block's keys.",
}
LOSES = ("tiled_attention.memory_causal",)
STATUS = "memory"


def tiled_attention(query, key, value, mask=None, is_causal=False, block=64):
    L, S = query.shape[-2], key.shape[-2]
    peak = np.full(query.shape[:-1], -np.inf, dtype=query.dtype)
    total = np.zeros(query.shape[:-1], dtype=query.dtype)
    output = np.zeros((*query.shape[:-1], value.shape[-1]), dtype=query.dtype)
    causal = np.tri(L, S, dtype=bool)
    for start in range(0, min(L, S) if is_causal else S, block):
        part = slice(start, start + block)
        scores = query @ np.swapaxes(key[..., part, :], -1, -2) / math.sqrt(query.shape[-1])
        if mask is not None:
            scores = np.where(mask[..., part], scores, -np.inf)
        if is_causal:
            scores = np.where(causal[:, part], scores, -np.inf)
        peak, total, output = add_block(peak, total, output, scores, value[..., part, :])
    return output / np.where(total == 0, 1, total)[..., None]
