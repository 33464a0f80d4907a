"""A query that sees no key gives NaN: -inf minus -inf."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "What is -inf - (-inf)?",
    "concept": "A row without a key has weights of zero, and so have its gradients.",
    "place": "In attention_backward, use masked_softmax, or treat rows without a key apart.",
}
LOSES = ("attention_backward.empty_rows",)


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    table = scale_scores(scores(query, key), query.shape[-1])
    table = table if mask is None else np.where(mask, table, -np.inf)
    terms = np.exp(table - np.max(table, axis=-1, keepdims=True))
    weights = terms / np.sum(terms, axis=-1, keepdims=True)
    grad_weights, grad_value = weighted_sum_backward(grad, weights, value)
    grad_scores = scale_backward(softmax_backward(grad_weights, weights), query.shape[-1])
    return (*scores_backward(grad_scores, query, key), grad_value)
