"""A large negative number stands for -inf, so a query that sees no key gets the mean of all values."""

# ruff: noqa: F821
import math

import numpy as np

HINTS = {
    "question": "What is the softmax of a row that is -1e9 everywhere?",
    "concept": "The softmax only sees differences; a row of equal scores is uniform, however small they are.",
    "place": "In tiled_attention, use -inf, or set the output of such queries to zero.",
}
LOSES = ("tiled_attention.empty_rows", "tiled_attention.causal_mask")


def tiled_attention(query, key, value, mask=None, is_causal=False, block=64):
    L, S = query.shape[-2], key.shape[-2]
    peak = np.full(query.shape[:-1], -np.inf, dtype=query.dtype)
    total = np.zeros(query.shape[:-1], dtype=query.dtype)
    output = np.zeros((*query.shape[:-1], value.shape[-1]), dtype=query.dtype)
    for start in range(0, min(L, S) if is_causal else S, block):
        part = slice(start, start + block)
        scores = query @ np.swapaxes(key[..., part, :], -1, -2) / math.sqrt(query.shape[-1])
        if mask is not None:
            scores = np.where(mask[..., part], scores, -1e9)
        if is_causal:
            scores = np.where(np.tri(L, scores.shape[-1], -start, dtype=bool), scores, -1e9)
        peak, total, output = add_block(peak, total, output, scores, value[..., part, :])
    return output / np.where(total == 0, 1, total)[..., None]
