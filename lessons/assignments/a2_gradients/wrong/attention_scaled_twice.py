"""The gradient is scaled twice."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "How often did the forward pass divide?",
    "concept": "One step forward is one step back.",
    "place": "In attention_backward, apply scale_backward once.",
}
LOSES = ("attention_backward.*",)


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    weights = masked_softmax(scale_scores(scores(query, key), query.shape[-1]), mask)
    grad_weights, grad_value = weighted_sum_backward(grad, weights, value)
    grad_scores = scale_backward(softmax_backward(grad_weights, weights), query.shape[-1])
    grad_scores = scale_backward(grad_scores, query.shape[-1])
    return (*scores_backward(grad_scores, query, key), grad_value)
