"""The mask holds the numbers 0 and 1; it must be boolean."""

import numpy as np

HINTS = {
    "question": "What is the dtype of your mask?",
    "concept": "A mask of numbers would be added to the scores, and hides nothing.",
    "place": "In padding_mask, return the comparison itself.",
}
LOSES = ("padding_mask.*",)


def padding_mask(lengths, S):
    return (np.arange(S) < lengths[:, None])[:, None, None, :].astype(float)
