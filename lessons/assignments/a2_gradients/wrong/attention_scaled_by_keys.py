"""The scale is taken from the number of keys; d_k is their width."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Which axis of the keys is their width?",
    "concept": "d_k is the last axis of the keys.",
    "place": "In attention_backward, use query.shape[-1].",
}
LOSES = ("attention_backward.*",)


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    weights = masked_softmax(scale_scores(scores(query, key), key.shape[-2]), mask)
    grad_weights, grad_value = weighted_sum_backward(grad, weights, value)
    grad_scores = scale_backward(softmax_backward(grad_weights, weights), key.shape[-2])
    return (*scores_backward(grad_scores, query, key), grad_value)
