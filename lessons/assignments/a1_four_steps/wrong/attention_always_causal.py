"""The causal mask is applied even when is_causal is False."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "What should the default do?",
    "concept": "Without is_causal every query sees every key that the mask allows.",
    "place": "In attention, build the triangle only if is_causal.",
}
LOSES = (
    "attention.values",
    "attention.batch",
    "attention.large",
    "attention.mask",
    "attention.empty_rows",
    "attention.float32",
)


def attention(query, key, value, mask=None, is_causal=False):
    causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
    mask = causal if mask is None else mask & causal
    scaled = scale_scores(scores(query, key), query.shape[-1])
    return weighted_sum(masked_softmax(scaled, mask), value)
