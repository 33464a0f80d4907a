"""Queries and keys have changed places in the mask."""

import numpy as np

HINTS = {
    "question": "Which axis of the mask belongs to the queries?",
    "concept": "Rows are queries, columns are keys: (L, S), as in the table of scores.",
    "place": "In causal_mask, compare the column's number with the row's, in this order.",
}
LOSES = ("causal_mask.*",)


def causal_mask(L, S, align="upper-left"):
    return np.tri(L, S, 0 if align == "upper-left" else S - L, dtype=bool).T
