"""The scale is in the weights, but not in the gradient: the scores' gradient has to be divided too."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "How many steps lie between the scores and the softmax?",
    "concept": "The chain rule passes every step, the scale too.",
    "place": "In attention_backward, apply scale_backward after softmax_backward.",
}
LOSES = ("attention_backward.*",)


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    weights = masked_softmax(scale_scores(scores(query, key), query.shape[-1]), mask)
    grad_weights, grad_value = weighted_sum_backward(grad, weights, value)
    grad_scores = softmax_backward(grad_weights, weights)
    return (*scores_backward(grad_scores, query, key), grad_value)
