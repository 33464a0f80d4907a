"""The whole table of scores is held at once; its size is L times S."""

# ruff: noqa: F821
import math

import numpy as np

HINTS = {
    "question": "How many numbers do you hold when there are 10,000 queries and 10,000 keys?",
    "concept": "With blocks, only L times block scores are needed at any time; peak, total and output carry the rest.",
    "place": "In tiled_attention, compute the scores of one block of keys inside the loop.",
}
LOSES = ("tiled_attention.memory", "tiled_attention.memory_causal")
STATUS = "memory"


def tiled_attention(query, key, value, mask=None, is_causal=False, block=64):
    L, S = query.shape[-2], key.shape[-2]
    scores = query @ np.swapaxes(key, -1, -2) / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    if is_causal:
        scores = np.where(np.tri(L, S, dtype=bool), scores, -np.inf)
    _, total, output = add_block(
        np.full(query.shape[:-1], -np.inf, dtype=query.dtype),
        np.zeros(query.shape[:-1], dtype=query.dtype),
        np.zeros((*query.shape[:-1], value.shape[-1]), dtype=query.dtype),
        scores,
        value,
    )
    return output / np.where(total == 0, 1, total)[..., None]
