"""The mask hides queries instead of keys: its long axis is the third."""

import numpy as np

HINTS = {
    "question": "Which axis of the scores (B, H, L, S) holds the keys?",
    "concept": "Padding must not be seen, so it is the keys that are hidden, for every query.",
    "place": "In padding_mask, S belongs in the last axis.",
}
LOSES = ("padding_mask.*",)


def padding_mask(lengths, S):
    return (np.arange(S) < lengths[:, None])[:, None, :, None]
