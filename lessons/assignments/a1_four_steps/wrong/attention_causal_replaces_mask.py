"""With is_causal the mask is forgotten; both must hold."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Which keys are allowed when both are given?",
    "concept": "A key must be allowed by the mask and by the order in time.",
    "place": "In attention, combine them: mask & causal.",
}
LOSES = ("attention.causal_mask",)


def attention(query, key, value, mask=None, is_causal=False):
    if is_causal:
        mask = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
    scaled = scale_scores(scores(query, key), query.shape[-1])
    return weighted_sum(masked_softmax(scaled, mask), value)
