"""The mask is a table of tokens against tokens, (B, 1, S, S); one row for all queries is asked for."""

import numpy as np

HINTS = {
    "question": "How many queries does a padding mask need to know of?",
    "concept": "Padding is about keys: the axis of the queries has size 1 and broadcasts.",
    "place": "In padding_mask, leave out the product with the queries.",
}
LOSES = ("padding_mask.*",)


def padding_mask(lengths, S):
    real = np.arange(S) < lengths[:, None]
    return (real[:, :, None] & real[:, None, :])[:, None]
