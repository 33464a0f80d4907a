"""np.repeat without an axis flattens the array."""

import numpy as np

HINTS = {
    "question": "What is the shape of np.repeat(x, 2)?",
    "concept": "Only the axis of heads grows.",
    "place": "In share_heads, give np.repeat an axis.",
}
LOSES = ("share_heads.*",)


def share_heads(x, num_heads):
    return np.repeat(x, num_heads // x.shape[-3])
