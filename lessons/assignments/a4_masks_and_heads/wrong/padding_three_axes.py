"""The mask has three axes, (B, 1, S), so the samples would be taken for heads."""

import numpy as np

HINTS = {
    "question": "Against which axes of the scores (B, H, L, S) does a mask (B, 1, S) broadcast?",
    "concept": "Axes line up from the right; the axes of heads and queries must both be there, with size 1.",
    "place": "In padding_mask, insert one axis more: [:, None, None, :].",
}
LOSES = ("padding_mask.*",)


def padding_mask(lengths, S):
    return (np.arange(S) < lengths[:, None])[:, None, :]
