"""A query whose first block is hidden becomes NaN, although it sees keys later."""

import math

import numpy as np

HINTS = {
    "question": "What is the peak of a row that has seen nothing, and what is -inf - (-inf)?",
    "concept": "A query may see its first key in a later block; until then its sums must stay 0.",
    "place": "In tiled_attention, use add_block, or subtract 0 where the peak is -inf.",
}
LOSES = ("tiled_attention.late", "tiled_attention.empty_rows", "tiled_attention.causal_mask")


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
        old, weights = np.exp(peak - new), np.exp(scores - new[..., None])
        total = total * old + np.sum(weights, axis=-1)
        output = output * old[..., None] + weights @ value[..., part, :]
        peak = new
    return output / np.where(total == 0, 1, total)[..., None]
