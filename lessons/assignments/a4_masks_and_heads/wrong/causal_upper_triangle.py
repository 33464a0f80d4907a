"""The upper triangle is kept, so each query sees the future and not the past."""

import numpy as np

HINTS = {
    "question": "Row i is query i; which columns are its past?",
    "concept": "A causal mask is lower triangular: a query sees itself and what came before.",
    "place": "In causal_mask, use np.tri or np.tril, not np.triu.",
}
LOSES = ("causal_mask.*",)


def causal_mask(L, S, align="upper-left"):
    return np.triu(np.ones((L, S), dtype=bool), 0 if align == "upper-left" else S - L)
