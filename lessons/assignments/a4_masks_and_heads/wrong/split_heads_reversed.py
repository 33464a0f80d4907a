"""The heads come in reverse order."""

import numpy as np

HINTS = {
    "question": "Which columns does head 0 hold?",
    "concept": "Head h holds the columns h*E to (h+1)*E - 1.",
    "place": "In split_heads, count the heads upwards.",
}
LOSES = ("split_heads.small", "split_heads.values", "split_heads.batch", "split_heads.float32")


def split_heads(x, num_heads):
    x = x.reshape(*x.shape[:-1], num_heads, x.shape[-1] // num_heads)
    return np.swapaxes(x[..., ::-1, :], -3, -2)
