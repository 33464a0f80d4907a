"""The peak starts at 0, so it is never below, and rows of very negative scores vanish."""

# ruff: noqa: F821
import math

import numpy as np

HINTS = {
    "question": "What is the peak of a query that has seen no key?",
    "concept": "The largest of no scores is -inf: every score is larger.",
    "place": "In tiled_attention, start with a peak of -inf.",
}
LOSES = ("tiled_attention.far",)


def tiled_attention(query, key, value, mask=None, is_causal=False, block=64):
    L, S = query.shape[-2], key.shape[-2]
    peak = np.zeros(query.shape[:-1], dtype=query.dtype)
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
    return output / np.where(total == 0, 1, total)[..., None]
