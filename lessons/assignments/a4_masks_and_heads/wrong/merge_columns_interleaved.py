"""The heads are merged column by column; each head's columns must stay together."""

import numpy as np

HINTS = {
    "question": "Which columns of a token come from head 0?",
    "concept": "Columns h*E to (h+1)*E - 1 come from head h: the axis of heads comes before that of the width.",
    "place": "In merge_heads, swap only the axes -3 and -2.",
}
LOSES = ("merge_heads.small", "merge_heads.values", "merge_heads.batch", "merge_heads.float32")


def merge_heads(x):
    tokens = np.moveaxis(x, -3, -1)
    return tokens.reshape(*tokens.shape[:-2], -1)
