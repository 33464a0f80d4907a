"""A sample of length 0 is given one key."""

import numpy as np

HINTS = {
    "question": "What may the queries of an empty sample see?",
    "concept": "A row without a key is allowed; attention gives it zeros.",
    "place": "In padding_mask, do not raise lengths to 1.",
}
LOSES = ("padding_mask.empty",)


def padding_mask(lengths, S):
    return (np.arange(S) < np.maximum(lengths, 1)[:, None])[:, None, None, :]
