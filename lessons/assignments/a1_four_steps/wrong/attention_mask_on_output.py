"""The mask acts on values, as weights of the softmax without a mask, and not before the normalisation."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "What do the weights of a masked row add up to?",
    "concept": "The mask must act before the normalisation: a masked key takes no share.",
    "place": "In attention, pass mask to masked_softmax.",
}
LOSES = ("attention.causal*", "attention.empty_rows", "attention.mask")


def attention(query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    scaled = scale_scores(scores(query, key), query.shape[-1])
    weights = masked_softmax(scaled)
    return weighted_sum(weights if mask is None else weights * mask, value)
