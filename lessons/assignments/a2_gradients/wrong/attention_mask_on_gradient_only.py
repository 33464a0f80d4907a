"""The mask is applied to the gradient alone: the weights themselves were made without it."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "With which weights was the output made?",
    "concept": "A masked softmax has other weights for the allowed keys too.",
    "place": "In attention_backward, pass the mask to masked_softmax.",
}
LOSES = ("attention_backward.mask", "attention_backward.empty_rows", "attention_backward.causal*")


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    weights = masked_softmax(scale_scores(scores(query, key), query.shape[-1]))
    grad_weights, grad_value = weighted_sum_backward(grad, weights, value)
    grad_scores = scale_backward(softmax_backward(grad_weights, weights), query.shape[-1])
    grad_scores = grad_scores if mask is None else grad_scores * mask
    return (*scores_backward(grad_scores, query, key), grad_value)
