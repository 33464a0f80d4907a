"""The first axis is repeated; with a batch in front it is not that of the heads."""

import numpy as np

HINTS = {
    "question": "Which axis is number 0 when there is a batch?",
    "concept": "Count from the end: the heads are axis -3.",
    "place": "In share_heads, repeat along axis -3, not along 0.",
}
LOSES = ("share_heads.groups", "share_heads.batch", "share_heads.one", "share_heads.float32")


def share_heads(x, num_heads):
    return np.repeat(x, num_heads // x.shape[-3], axis=0)
