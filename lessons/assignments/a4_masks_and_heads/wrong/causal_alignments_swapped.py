"""The two alignments have changed places."""

import numpy as np

HINTS = {
    "question": "Which alignment pairs query 0 with key 0?",
    "concept": "Upper left pairs query 0 with key 0; lower right pairs the last query with the last key.",
    "place": "In causal_mask, the shift by S - L belongs to lower-right.",
}
LOSES = (
    "causal_mask.upper_left",
    "causal_mask.lower_right_small",
    "causal_mask.lower_right",
    "causal_mask.lower_right_empty",
)


def causal_mask(L, S, align="upper-left"):
    return np.tri(L, S, S - L if align == "upper-left" else 0, dtype=bool)
