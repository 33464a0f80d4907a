"""The number of hidden keys is used as a slice from the end, and -0 is 0: a full sample loses all its keys."""

import numpy as np

HINTS = {
    "question": "What is mask[-0:]?",
    "concept": "Count from the front: the first lengths[b] keys are seen.",
    "place": "In padding_mask, compare np.arange(S) with lengths, or slice [:length].",
}
LOSES = ("padding_mask.full",)


def padding_mask(lengths, S):
    mask = np.ones((len(lengths), 1, 1, S), dtype=bool)
    for b, length in enumerate(lengths):
        mask[b, ..., -(S - length) :] = False
    return mask
