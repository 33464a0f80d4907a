"""The padding is hidden at the front; here sequences begin at key 0 and are filled up at the end."""

import numpy as np

HINTS = {
    "question": "Where do the tokens of a short sample stand?",
    "concept": "The first lengths[b] keys are real.",
    "place": "In padding_mask, compare np.arange(S) with lengths, not with S - lengths.",
}
LOSES = ("padding_mask.*",)


def padding_mask(lengths, S):
    return (np.arange(S) >= S - lengths[:, None])[:, None, None, :]
