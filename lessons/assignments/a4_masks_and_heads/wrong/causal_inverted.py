"""The mask is inverted: True marks what is hidden."""

import numpy as np

HINTS = {
    "question": "What does True mean in this mask?",
    "concept": "True = may attend, as in PyTorch's scaled_dot_product_attention.",
    "place": "In causal_mask, return the opposite.",
}
LOSES = ("causal_mask.*",)


def causal_mask(L, S, align="upper-left"):
    return ~np.tri(L, S, 0 if align == "upper-left" else S - L, dtype=bool)
