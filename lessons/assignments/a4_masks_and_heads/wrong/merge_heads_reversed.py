"""The heads are joined in reverse order."""

import numpy as np

HINTS = {
    "question": "Which columns of a token come from head 0?",
    "concept": "Columns h*E to (h+1)*E - 1 come from head h.",
    "place": "In merge_heads, keep the order of the heads.",
}
LOSES = ("merge_heads.small", "merge_heads.values", "merge_heads.batch", "merge_heads.float32")


def merge_heads(x):
    tokens = np.swapaxes(x, -3, -2)[..., ::-1, :]
    return tokens.reshape(*tokens.shape[:-2], -1)
