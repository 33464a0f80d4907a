"""A query that sees no key gets equal weights for all keys, and its gradient leaks into the values."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "What are the weights if every score is -1e9?",
    "concept": "A large negative number is not -inf: if all scores are the same, the weights are equal.",
    "place": "In attention_backward, set the weights of masked keys to zero.",
}
LOSES = ("attention_backward.empty_rows",)


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    table = scale_scores(scores(query, key), query.shape[-1])
    table = table if mask is None else np.where(mask, table, -1e9)
    terms = np.exp(table - np.max(table, axis=-1, keepdims=True))
    weights = terms / np.sum(terms, axis=-1, keepdims=True)
    grad_weights, grad_value = weighted_sum_backward(grad, weights, value)
    grad_scores = scale_backward(softmax_backward(grad_weights, weights), query.shape[-1])
    return (*scores_backward(grad_scores, query, key), grad_value)
