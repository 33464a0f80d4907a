"""The axes are counted from the front, which fits only a batch of one axis."""

import numpy as np

HINTS = {
    "question": "Which axis is number 1 when there are two axes in front, or none?",
    "concept": "Count from the end: -3 is the axis of tokens here, -2 that of heads.",
    "place": "In split_heads, swap the axes -3 and -2, not 1 and 2.",
}
LOSES = ("split_heads.small", "split_heads.batch", "split_heads.values")


def split_heads(x, num_heads):
    return np.swapaxes(x.reshape(*x.shape[:-1], num_heads, x.shape[-1] // num_heads), 1, 2)
