"""Every query sees one key of the future."""

import numpy as np

HINTS = {
    "question": "What should query 0 see in the upper-left alignment?",
    "concept": "One column too many lets the answer leak: the next token is what a model learns to predict.",
    "place": "In causal_mask, the diagonal lies one column too far to the right.",
}
LOSES = (
    "causal_mask.small",
    "causal_mask.square",
    "causal_mask.upper_left",
    "causal_mask.lower_right_small",
    "causal_mask.lower_right",
    "causal_mask.lower_right_empty",
)


def causal_mask(L, S, align="upper-left"):
    return np.tri(L, S, 1 if align == "upper-left" else S - L + 1, dtype=bool)
