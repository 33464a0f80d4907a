"""The softmax is skipped on the way back: the weights' gradient is taken for the scores'."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Which steps lie between the output and the scores?",
    "concept": "The chain rule passes every step of the forward pass, in reverse.",
    "place": "In attention_backward, apply softmax_backward to the weights' gradient.",
}
LOSES = ("attention_backward.*",)


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    weights = masked_softmax(scale_scores(scores(query, key), query.shape[-1]), mask)
    grad_weights, grad_value = weighted_sum_backward(grad, weights, value)
    grad_scores = scale_backward(grad_weights, query.shape[-1])
    return (*scores_backward(grad_scores, query, key), grad_value)
