"""No peak is subtracted before exp, which overflows at 709."""

import math

import numpy as np

HINTS = {
    "question": "What is exp(1000) in float64?",
    "concept": "Subtracting a row's peak changes nothing in the weights, and keeps exp in range.",
    "place": "In tiled_attention, use add_block.",
}
LOSES = ("tiled_attention.far",)


def tiled_attention(query, key, value, mask=None, is_causal=False, block=64):
    L, S = query.shape[-2], key.shape[-2]
    total = np.zeros(query.shape[:-1], dtype=query.dtype)
    output = np.zeros((*query.shape[:-1], value.shape[-1]), dtype=query.dtype)
    for start in range(0, min(L, S) if is_causal else S, block):
        part = slice(start, start + block)
        scores = query @ np.swapaxes(key[..., part, :], -1, -2) / math.sqrt(query.shape[-1])
        if mask is not None:
            scores = np.where(mask[..., part], scores, -np.inf)
        if is_causal:
            scores = np.where(np.tri(L, scores.shape[-1], -start, dtype=bool), scores, -np.inf)
        weights = np.exp(scores)
        total, output = total + np.sum(weights, axis=-1), output + weights @ value[..., part, :]
    return output / np.where(total == 0, 1, total)[..., None]
