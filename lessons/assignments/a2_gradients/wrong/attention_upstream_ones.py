"""The gradient from above is not used: the result is the gradient of the plain sum of the outputs."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "What happens to your result if grad is doubled?",
    "concept": "The chain rule starts with the gradient that comes from above.",
    "place": "In attention_backward, start from grad.",
}
LOSES = ("attention_backward.*",)


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    weights = masked_softmax(scale_scores(scores(query, key), query.shape[-1]), mask)
    grad_weights, grad_value = weighted_sum_backward(np.ones_like(grad), weights, value)
    grad_scores = scale_backward(softmax_backward(grad_weights, weights), query.shape[-1])
    return (*scores_backward(grad_scores, query, key), grad_value)
