"""The weights' gradient is multiplied by the weights only: the softmax's row sum is missing."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "What is the gradient of the scores if grad_weights is the same for all keys?",
    "concept": "The gradient of the scores sums to zero along each row.",
    "place": "In attention_backward, use softmax_backward.",
}
LOSES = ("attention_backward.*",)


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    weights = masked_softmax(scale_scores(scores(query, key), query.shape[-1]), mask)
    grad_weights, grad_value = weighted_sum_backward(grad, weights, value)
    grad_scores = scale_backward(grad_weights * weights, query.shape[-1])
    return (*scores_backward(grad_scores, query, key), grad_value)
