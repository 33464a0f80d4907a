"""For the lower right the diagonal is shifted the wrong way, by L - S."""

import numpy as np

HINTS = {
    "question": "With two queries and four keys, how many keys should the last query see?",
    "concept": "The last query sees all S keys, so with S > L the diagonal moves to the right.",
    "place": "In causal_mask, the shift is S - L, not L - S.",
}
LOSES = ("causal_mask.lower_right_small", "causal_mask.lower_right", "causal_mask.lower_right_empty")


def causal_mask(L, S, align="upper-left"):
    return np.tri(L, S, 0 if align == "upper-left" else L - S, dtype=bool)
