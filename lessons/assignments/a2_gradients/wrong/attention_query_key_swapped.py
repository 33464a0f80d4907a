"""The gradients of query and key are returned in the wrong order."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Which shape has the gradient of the query?",
    "concept": "A gradient has the shape of what it is the gradient of.",
    "place": "In attention_backward, return query, key, value in this order.",
}
LOSES = ("attention_backward.*",)


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    weights = masked_softmax(scale_scores(scores(query, key), query.shape[-1]), mask)
    grad_weights, grad_value = weighted_sum_backward(grad, weights, value)
    grad_scores = scale_backward(softmax_backward(grad_weights, weights), query.shape[-1])
    grad_query, grad_key = scores_backward(grad_scores, query, key)
    return grad_key, grad_query, grad_value
