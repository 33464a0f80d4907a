"""num_heads is taken for the width of a head."""

import numpy as np

HINTS = {
    "question": "How many heads should there be?",
    "concept": "The width H*E is divided by the number of heads; what comes out is the width of one.",
    "place": "In split_heads, the axis of heads has the size num_heads.",
}
LOSES = ("split_heads.values", "split_heads.batch", "split_heads.one_head", "split_heads.float32")


def split_heads(x, num_heads):
    return np.swapaxes(x.reshape(*x.shape[:-1], x.shape[-1] // num_heads, num_heads), -3, -2)
