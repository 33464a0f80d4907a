"""A query that sees no key becomes NaN: 0 / 0."""

# ruff: noqa: F821
import math

import numpy as np

HINTS = {
    "question": "What is the total of a query that has seen no key?",
    "concept": "A query that may attend to nothing has an output of zero by agreement.",
    "place": "In tiled_attention, do not divide by a total of 0.",
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
            scores = np.where(mask[..., part], scores, -np.inf)
        if is_causal:
            scores = np.where(np.tri(L, scores.shape[-1], -start, dtype=bool), scores, -np.inf)
        peak, total, output = add_block(peak, total, output, scores, value[..., part, :])
    return output / total[..., None]
