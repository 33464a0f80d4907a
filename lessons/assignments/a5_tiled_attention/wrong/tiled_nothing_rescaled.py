"""Neither total nor output are brought to the new peak."""

import math

import numpy as np

HINTS = {
    "question": "Relative to which peak were they summed?",
    "concept": "When the peak rises from old to new, all that was summed before shrinks by exp(old - new).",
    "place": "In tiled_attention, use add_block, or multiply total and output by exp(old peak - new peak).",
}
LOSES = ("tiled_attention.*",)


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
        new = np.maximum(peak, np.max(scores, axis=-1))
        shift = np.where(np.isneginf(new), 0, new)
        weights = np.exp(scores - shift[..., None])
        total = total + np.sum(weights, axis=-1)
        output = output + weights @ value[..., part, :]
        peak = new
    return output / np.where(total == 0, 1, total)[..., None]
