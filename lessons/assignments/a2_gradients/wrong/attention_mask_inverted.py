"""The mask is inverted: True means that a key may be seen."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Which keys does True let in?",
    "concept": "A boolean mask selects: True = may attend.",
    "place": "In attention_backward, pass the mask as it is.",
}
LOSES = ("attention_backward.mask", "attention_backward.empty_rows", "attention_backward.causal*")


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    weights = masked_softmax(scale_scores(scores(query, key), query.shape[-1]), None if mask is None else ~mask)
    grad_weights, grad_value = weighted_sum_backward(grad, weights, value)
    grad_scores = scale_backward(softmax_backward(grad_weights, weights), query.shape[-1])
    return (*scores_backward(grad_scores, query, key), grad_value)
