"""The weights are computed again without the scale."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "With which weights was the output made?",
    "concept": "The backward pass needs the very weights of the forward pass.",
    "place": "In attention_backward, scale the scores before the softmax.",
}
LOSES = ("attention_backward.*",)


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    weights = masked_softmax(scores(query, key), mask)
    grad_weights, grad_value = weighted_sum_backward(grad, weights, value)
    grad_scores = scale_backward(softmax_backward(grad_weights, weights), query.shape[-1])
    return (*scores_backward(grad_scores, query, key), grad_value)
