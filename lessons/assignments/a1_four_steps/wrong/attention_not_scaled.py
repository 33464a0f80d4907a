"""attention leaves out the scaling step."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Which of the four steps does your function not call?",
    "concept": "Without the scale the softmax saturates as the keys get wider.",
    "place": "In attention, call scale_scores between scores and masked_softmax.",
}
LOSES = ("attention.*",)


def attention(query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    scaled = scores(query, key)
    return weighted_sum(masked_softmax(scaled, mask), value)
