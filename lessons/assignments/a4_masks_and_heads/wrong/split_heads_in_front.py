"""The heads stand in front of the batch, (H, ..., L, E)."""

import numpy as np

HINTS = {
    "question": "Where does the axis of heads belong when there is a batch?",
    "concept": "Axes in front stay in front: (..., H, L, E).",
    "place": "In split_heads, move the heads to -3, not to 0.",
}
LOSES = ("split_heads.batch", "split_heads.values", "split_heads.one_head", "split_heads.float32")


def split_heads(x, num_heads):
    return np.stack(np.split(x, num_heads, axis=-1))
