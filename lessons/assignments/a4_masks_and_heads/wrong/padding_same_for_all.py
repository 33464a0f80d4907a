"""All samples get the length of the longest."""

import numpy as np

HINTS = {
    "question": "Should two samples of different lengths have equal rows?",
    "concept": "Each sample has its own length, so its own row.",
    "place": "In padding_mask, compare with lengths[:, None], one row a sample.",
}
LOSES = ("padding_mask.*",)


def padding_mask(lengths, S):
    return np.tile(np.arange(S) < lengths.max(), (len(lengths), 1))[:, None, None, :]
