"""The heads take turns (0, 1, 0, 1); each should serve its query heads in a row (0, 0, 1, 1)."""

import numpy as np

HINTS = {
    "question": "Which head does query head 1 read from when two serve four?",
    "concept": "Query head h reads from head h // (H / Hkv).",
    "place": "In share_heads, use np.repeat, not np.tile.",
}
LOSES = ("share_heads.small", "share_heads.groups", "share_heads.batch", "share_heads.float32")


def share_heads(x, num_heads):
    return np.concatenate([x] * (num_heads // x.shape[-3]), axis=-3)
