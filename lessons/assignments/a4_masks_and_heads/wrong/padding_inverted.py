"""The mask is inverted: True marks the padding."""

import numpy as np

HINTS = {
    "question": "What does True mean in this mask?",
    "concept": "True = may attend; torch.nn.MultiheadAttention means the opposite by its key_padding_mask.",
    "place": "In padding_mask, compare with <, not with >=.",
}
LOSES = ("padding_mask.*",)


def padding_mask(lengths, S):
    return (np.arange(S) >= lengths[:, None])[:, None, None, :]
