"""The values' gradient uses the scores in place of the weights."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "By what were the values multiplied?",
    "concept": "The output is weights times values; the scores are not in it.",
    "place": "In attention_backward, pass the weights to weighted_sum_backward.",
}
LOSES = ("attention_backward.*",)


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    weights = masked_softmax(scale_scores(scores(query, key), query.shape[-1]), mask)
    grad_weights, _ = weighted_sum_backward(grad, weights, value)
    _, grad_value = weighted_sum_backward(grad, scale_scores(scores(query, key), query.shape[-1]), value)
    grad_scores = scale_backward(softmax_backward(grad_weights, weights), query.shape[-1])
    return (*scores_backward(grad_scores, query, key), grad_value)
