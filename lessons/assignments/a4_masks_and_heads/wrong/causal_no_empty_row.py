"""Queries that should see no key are given the first one."""

import numpy as np

HINTS = {
    "question": "With four queries and two keys aligned to the lower right, what does query 0 see?",
    "concept": "A row without a key is allowed; attention gives it zeros.",
    "place": "In causal_mask, do not fill the rows that are False everywhere.",
}
LOSES = ("causal_mask.lower_right_empty",)


def causal_mask(L, S, align="upper-left"):
    mask = np.tri(L, S, 0 if align == "upper-left" else S - L, dtype=bool)
    mask[:, 0] = True
    return mask
