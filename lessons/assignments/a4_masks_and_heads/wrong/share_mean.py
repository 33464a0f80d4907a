"""All query heads get the mean of the heads."""

import numpy as np

HINTS = {
    "question": "Does query head 0 read from the last head?",
    "concept": "Each query head reads from exactly one head.",
    "place": "In share_heads, repeat each head for its own group.",
}
LOSES = ("share_heads.small", "share_heads.groups", "share_heads.batch", "share_heads.all", "share_heads.float32")


def share_heads(x, num_heads):
    return np.repeat(x.mean(axis=-3, keepdims=True), num_heads, axis=-3)
