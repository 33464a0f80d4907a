"""The weights are computed again without subtracting the maximum: exp overflows."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "What is exp(1000)?",
    "concept": "Subtracting the row's maximum changes no weight and keeps exp finite.",
    "place": "In attention_backward, use masked_softmax.",
}
LOSES = ("attention_backward.large",)


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    table = np.exp(scale_scores(scores(query, key), query.shape[-1]))
    table = table if mask is None else table * mask
    total = np.sum(table, axis=-1, keepdims=True)
    weights = table / np.where(total == 0, 1, total)
    grad_weights, grad_value = weighted_sum_backward(grad, weights, value)
    grad_scores = scale_backward(softmax_backward(grad_weights, weights), query.shape[-1])
    return (*scores_backward(grad_scores, query, key), grad_value)
