"""The axes are swapped, but the two last ones are not joined."""

import numpy as np

HINTS = {
    "question": "How many axes should the result have?",
    "concept": "A token's heads, (H, E), become one row of H*E numbers.",
    "place": "In merge_heads, reshape after the swap.",
}
LOSES = ("merge_heads.*",)


def merge_heads(x):
    return np.swapaxes(x, -3, -2)
