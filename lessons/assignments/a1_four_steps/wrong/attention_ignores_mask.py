"""attention does not pass the mask on to the softmax."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Which step needs the mask?",
    "concept": "The mask acts inside the softmax.",
    "place": "In attention, pass mask to masked_softmax.",
}
LOSES = ("attention.mask", "attention.empty_rows", "attention.causal_mask")


def attention(query, key, value, mask=None, is_causal=False):
    if is_causal:
        mask = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
    allowed = mask if is_causal else None
    scaled = scale_scores(scores(query, key), query.shape[-1])
    return weighted_sum(masked_softmax(scaled, allowed), value)
