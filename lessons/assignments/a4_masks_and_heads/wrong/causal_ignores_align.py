"""align is not used: the mask always starts at the upper left."""

import numpy as np

HINTS = {
    "question": "What should change when align is lower-right?",
    "concept": "When decoding with a cache the queries are the newest tokens: the last query stands at the last key.",
    "place": "In causal_mask, shift the diagonal by S - L for lower-right.",
}
LOSES = ("causal_mask.lower_right_small", "causal_mask.lower_right", "causal_mask.lower_right_empty")


def causal_mask(L, S, align="upper-left"):
    return np.tri(L, S, dtype=bool)
