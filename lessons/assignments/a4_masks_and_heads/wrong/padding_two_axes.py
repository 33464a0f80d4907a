"""The mask has two axes, (B, S), which would be read as queries and keys."""

import numpy as np

HINTS = {
    "question": "Against which axes of the scores (B, H, L, S) does a mask (B, S) broadcast?",
    "concept": "Axes line up from the right; the axes of heads and queries must be there, with size 1.",
    "place": "In padding_mask, insert two axes: [:, None, None, :].",
}
LOSES = ("padding_mask.*",)


def padding_mask(lengths, S):
    return np.arange(S) < lengths[:, None]
