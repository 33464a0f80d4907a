"""All query heads get the first head."""

import numpy as np

HINTS = {
    "question": "Who reads from the second head?",
    "concept": "With Hkv heads there are Hkv groups; only with a single one do all read from it.",
    "place": "In share_heads, repeat each head for its own group.",
}
LOSES = ("share_heads.small", "share_heads.groups", "share_heads.batch", "share_heads.all", "share_heads.float32")


def share_heads(x, num_heads):
    return np.repeat(x[..., :1, :, :], num_heads, axis=-3)
