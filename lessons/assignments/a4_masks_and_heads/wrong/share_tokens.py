"""The tokens are repeated, not the heads."""

import numpy as np

HINTS = {
    "question": "Which axis of (..., Hkv, S, E) holds the heads?",
    "concept": "Heads are the third axis from the end.",
    "place": "In share_heads, repeat along axis -3.",
}
LOSES = ("share_heads.small", "share_heads.groups", "share_heads.batch", "share_heads.one", "share_heads.float32")


def share_heads(x, num_heads):
    return np.repeat(x, num_heads // x.shape[-3], axis=-2)
