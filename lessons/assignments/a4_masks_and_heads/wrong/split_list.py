"""The heads come as a list; one array is asked for."""

import numpy as np

HINTS = {
    "question": "What is the type of what you return?",
    "concept": "All heads in one array can be multiplied in one product.",
    "place": "In split_heads, join the heads with np.stack, at axis -3.",
}
LOSES = ("split_heads.*",)


def split_heads(x, num_heads):
    return np.split(x, num_heads, axis=-1)
