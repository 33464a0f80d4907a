"""One key of the padding is seen: lengths[b] keys are numbered 0 to lengths[b] - 1."""

import numpy as np

HINTS = {
    "question": "Which numbers do the first three keys have?",
    "concept": "Counting starts at 0, so key number lengths[b] is the first of the padding.",
    "place": "In padding_mask, compare with <, not with <=.",
}
LOSES = ("padding_mask.small", "padding_mask.batch", "padding_mask.full", "padding_mask.empty")


def padding_mask(lengths, S):
    return (np.arange(S) <= lengths[:, None])[:, None, None, :]
