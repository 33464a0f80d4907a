"""The scores are divided by the square root of E twice."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "How often is a score divided on its way to exp?",
    "concept": "The scale is applied once, to the query or to the scores.",
    "place": "In tiled_attention, remove one of the divisions.",
}
LOSES = ("tiled_attention.*",)


def tiled_attention(query, key, value, mask=None, is_causal=False, block=64):
    L, S = query.shape[-2], key.shape[-2]
    peak = np.full(query.shape[:-1], -np.inf, dtype=query.dtype)
    total = np.zeros(query.shape[:-1], dtype=query.dtype)
    output = np.zeros((*query.shape[:-1], value.shape[-1]), dtype=query.dtype)
    for start in range(0, min(L, S) if is_causal else S, block):
        part = slice(start, start + block)
        scores = query @ np.swapaxes(key[..., part, :], -1, -2) / query.shape[-1]
        if mask is not None:
            scores = np.where(mask[..., part], scores, -np.inf)
        if is_causal:
            scores = np.where(np.tri(L, scores.shape[-1], -start, dtype=bool), scores, -np.inf)
        peak, total, output = add_block(peak, total, output, scores, value[..., part, :])
    return output / np.where(total == 0, 1, total)[..., None]
