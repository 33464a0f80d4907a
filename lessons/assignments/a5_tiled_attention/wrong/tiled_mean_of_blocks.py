"""Each block has a softmax of its own, and their outputs are averaged."""

import math

import numpy as np

HINTS = {
    "question": "How much should a block weigh whose scores are all far below those of another?",
    "concept": "A weight depends on all keys: carry peak and total from block to block, and divide once, at the end.",
    "place": "In tiled_attention, use add_block and divide by the total after the loop.",
}
LOSES = ("tiled_attention.*",)


def tiled_attention(query, key, value, mask=None, is_causal=False, block=64):
    L, S = query.shape[-2], key.shape[-2]
    count = 0
    output = np.zeros((*query.shape[:-1], value.shape[-1]), dtype=query.dtype)
    for start in range(0, min(L, S) if is_causal else S, block):
        part = slice(start, start + block)
        scores = query @ np.swapaxes(key[..., part, :], -1, -2) / math.sqrt(query.shape[-1])
        if mask is not None:
            scores = np.where(mask[..., part], scores, -np.inf)
        if is_causal:
            scores = np.where(np.tri(L, scores.shape[-1], -start, dtype=bool), scores, -np.inf)
        peak = np.max(scores, axis=-1, keepdims=True)
        weights = np.exp(scores - np.where(np.isneginf(peak), 0, peak))
        total = np.sum(weights, axis=-1, keepdims=True)
        output = output + weights / np.where(total == 0, 1, total) @ value[..., part, :]
        count += 1
    return output / count
