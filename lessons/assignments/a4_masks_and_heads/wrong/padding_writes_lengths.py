"""The lengths are changed in place."""

import numpy as np

HINTS = {
    "question": "What do the caller's lengths hold after the call?",
    "concept": "An operator like -= writes into its argument.",
    "place": "In padding_mask, make a new array.",
}
LOSES = ("padding_mask.*",)


def padding_mask(lengths, S):
    lengths -= 1
    return (np.arange(S) <= lengths[:, None])[:, None, None, :]
