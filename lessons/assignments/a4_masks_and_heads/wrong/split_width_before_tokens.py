"""Each head comes out transposed, (..., H, E, L)."""

import numpy as np

HINTS = {
    "question": "Which axis is the last, the tokens or the width?",
    "concept": "A head looks like a small query of its own: (L, E).",
    "place": "In split_heads, swap only the axes of heads and tokens.",
}
LOSES = ("split_heads.*",)


def split_heads(x, num_heads):
    return np.moveaxis(x.reshape(*x.shape[:-1], num_heads, x.shape[-1] // num_heads), -3, -1)
