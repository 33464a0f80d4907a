"""Each head takes every H-th column; it should take E neighbouring ones."""

import numpy as np

HINTS = {
    "question": "Which columns belong to head 0?",
    "concept": "Head h holds the columns h*E to (h+1)*E - 1: the axis of heads comes before that of the width.",
    "place": "In split_heads, reshape the last axis to (H, E), not to (E, H).",
}
LOSES = ("split_heads.small", "split_heads.values", "split_heads.batch", "split_heads.float32")


def split_heads(x, num_heads):
    return np.moveaxis(x.reshape(*x.shape[:-1], x.shape[-1] // num_heads, num_heads), -1, -3)
