"""The result is float32 although the inputs are float64."""

import numpy as np

HINTS = {
    "question": "What is the dtype of your result, and what was that of the inputs?",
    "concept": "Copying heads needs no other precision.",
    "place": "In share_heads, remove the conversion to float32.",
}
LOSES = ("share_heads.small", "share_heads.groups", "share_heads.batch", "share_heads.one", "share_heads.all")


def share_heads(x, num_heads):
    return np.repeat(x, num_heads // x.shape[-3], axis=-3).astype(np.float32)
