"""The mask holds 0 and minus infinity, to be added to scores; it must be boolean."""

import numpy as np

HINTS = {
    "question": "What is the dtype of your mask?",
    "concept": "A boolean mask says what is seen; the softmax knows how to hide the rest.",
    "place": "In causal_mask, return the comparison itself.",
}
LOSES = ("causal_mask.*",)


def causal_mask(L, S, align="upper-left"):
    return np.where(np.tri(L, S, 0 if align == "upper-left" else S - L, dtype=bool), 0.0, -np.inf)
