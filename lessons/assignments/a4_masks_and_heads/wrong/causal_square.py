"""The mask is square: the number of keys is not used."""

import numpy as np

HINTS = {
    "question": "What is the shape of the table of scores?",
    "concept": "Each query has a row and each key a column: (L, S).",
    "place": "In causal_mask, give np.tri both L and S.",
}
LOSES = (
    "causal_mask.upper_left",
    "causal_mask.lower_right_small",
    "causal_mask.lower_right",
    "causal_mask.lower_right_empty",
)


def causal_mask(L, S, align="upper-left"):
    return np.tri(L, dtype=bool)
