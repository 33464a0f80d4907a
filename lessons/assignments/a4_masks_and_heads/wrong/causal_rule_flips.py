"""With more queries than keys the lower-right alignment is given up; one rule should hold for all sizes."""

import numpy as np

HINTS = {
    "question": "With four queries and two keys aligned to the lower right, what does query 0 see?",
    "concept": "The first L - S queries then see no key at all, and that is what the rule says.",
    "place": "In causal_mask, let the shift S - L be negative.",
}
LOSES = ("causal_mask.lower_right_empty",)


def causal_mask(L, S, align="upper-left"):
    return np.tri(L, S, 0 if align == "upper-left" else max(S - L, 0), dtype=bool)
