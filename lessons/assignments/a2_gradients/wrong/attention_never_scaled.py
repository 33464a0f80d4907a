"""The scale is missing on the way there and on the way back."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "By what are the scores divided?",
    "concept": "Attention divides the scores by sqrt(d_k).",
    "place": "In attention_backward, scale the scores, and the gradient.",
}
LOSES = ("attention_backward.*",)


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    weights = masked_softmax(scores(query, key), mask)
    grad_weights, grad_value = weighted_sum_backward(grad, weights, value)
    grad_scores = softmax_backward(grad_weights, weights)
    return (*scores_backward(grad_scores, query, key), grad_value)
