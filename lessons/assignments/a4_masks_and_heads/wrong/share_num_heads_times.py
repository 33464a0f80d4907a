"""Each head is repeated num_heads times; H / Hkv copies of each make H in all."""

import numpy as np

HINTS = {
    "question": "How many heads should come out?",
    "concept": "Hkv heads serve H query heads, so each serves a group of H / Hkv.",
    "place": "In share_heads, divide num_heads by the number of heads that there are.",
}
LOSES = ("share_heads.small", "share_heads.groups", "share_heads.batch", "share_heads.float32", "share_heads.all")


def share_heads(x, num_heads):
    return np.repeat(x, num_heads, axis=-3)
