"""The mask is always aligned to the lower right, also where upper-left is asked for."""

import numpy as np

HINTS = {
    "question": "Which key is the only one that query 0 sees in the upper-left alignment?",
    "concept": "Upper left pairs query 0 with key 0; lower right pairs the last query with the last key.",
    "place": "In causal_mask, shift the diagonal only for lower-right.",
}
LOSES = ("causal_mask.upper_left",)


def causal_mask(L, S, align="upper-left"):
    return np.tri(L, S, S - L, dtype=bool)
