"""The last key of every sample is hidden."""

import numpy as np

HINTS = {
    "question": "How many keys should a sample of length 3 see?",
    "concept": "Counting starts at 0, so the last key that is seen has the number lengths[b] - 1.",
    "place": "In padding_mask, compare the key's number itself with lengths.",
}
LOSES = ("padding_mask.*",)


def padding_mask(lengths, S):
    return (np.arange(1, S + 1) < lengths[:, None])[:, None, None, :]
