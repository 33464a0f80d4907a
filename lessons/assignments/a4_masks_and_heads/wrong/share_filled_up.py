"""The heads that are missing are filled up with zeros."""

import numpy as np

HINTS = {
    "question": "Who reads from the second head?",
    "concept": "Query head h reads from head h // (H / Hkv); no head is empty.",
    "place": "In share_heads, repeat each head H / Hkv times.",
}
LOSES = ("share_heads.small", "share_heads.groups", "share_heads.batch", "share_heads.one", "share_heads.float32")


def share_heads(x, num_heads):
    shared = np.zeros((*x.shape[:-3], num_heads, *x.shape[-2:]), dtype=x.dtype)
    shared[..., : x.shape[-3], :, :] = x
    return shared
