"""The diagonal is left out: a token must be able to attend to itself."""

import numpy as np

HINTS = {
    "question": "May query 2 see key 2?",
    "concept": "Causal means not later than, and a token is not later than itself.",
    "place": "In causal_mask, compare with <=, not with <.",
}
LOSES = ("causal_mask.*",)


def causal_mask(L, S, align="upper-left"):
    return np.tri(L, S, -1 if align == "upper-left" else S - L - 1, dtype=bool)
