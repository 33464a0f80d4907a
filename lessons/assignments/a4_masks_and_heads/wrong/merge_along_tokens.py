"""The heads are joined along the tokens, so the sequence gets longer instead of the tokens wider."""

import numpy as np

HINTS = {
    "question": "How many tokens should there be?",
    "concept": "There are as many tokens as before; each is H times as wide.",
    "place": "In merge_heads, join along the last axis.",
}
LOSES = ("merge_heads.small", "merge_heads.values", "merge_heads.batch", "merge_heads.float32")


def merge_heads(x):
    return np.concatenate([x[..., h, :, :] for h in range(x.shape[-3])], axis=-2)
