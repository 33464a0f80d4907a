"""The mask holds the numbers 0 and 1; it must be boolean."""

import numpy as np

HINTS = {
    "question": "What is the dtype of your mask?",
    "concept": "A mask of numbers would be added to the scores, and hides nothing.",
    "place": "In causal_mask, give np.tri or np.ones dtype=bool.",
}
LOSES = ("causal_mask.*",)


def causal_mask(L, S, align="upper-left"):
    return np.tri(L, S, 0 if align == "upper-left" else S - L)
