"""The gradients are returned in the wrong order: query, key, value is asked for."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "In which order do the arguments come?",
    "concept": "The gradients come in the order of the inputs.",
    "place": "In attention_backward, put the value's gradient last.",
}
LOSES = ("attention_backward.*",)


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    weights = masked_softmax(scale_scores(scores(query, key), query.shape[-1]), mask)
    grad_weights, grad_value = weighted_sum_backward(grad, weights, value)
    grad_scores = scale_backward(softmax_backward(grad_weights, weights), query.shape[-1])
    return (grad_value, *scores_backward(grad_scores, query, key))
