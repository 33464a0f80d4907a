"""The causal mask keeps the future and hides the past."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Which keys does the first query see?",
    "concept": "Rows are queries, columns are keys: the lower triangle stays.",
    "place": "In attention_backward, use np.tri, not its transpose.",
}
LOSES = ("attention_backward.causal*",)


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(key.shape[-2], query.shape[-2], dtype=bool).T
        mask = causal if mask is None else mask & causal
    weights = masked_softmax(scale_scores(scores(query, key), query.shape[-1]), mask)
    grad_weights, grad_value = weighted_sum_backward(grad, weights, value)
    grad_scores = scale_backward(softmax_backward(grad_weights, weights), query.shape[-1])
    return (*scores_backward(grad_scores, query, key), grad_value)
