"""The second axis is repeated, which is that of the heads only behind exactly one axis in front."""

import numpy as np

HINTS = {
    "question": "Which axis is number 1 when there are two axes in front, or none?",
    "concept": "Count from the end: the heads are axis -3.",
    "place": "In share_heads, repeat along axis -3, not along 1.",
}
LOSES = ("share_heads.small", "share_heads.groups", "share_heads.batch")


def share_heads(x, num_heads):
    return np.repeat(x, num_heads // x.shape[-3], axis=1)
