"""The scale is taken from the values' width; d_k is the width of the keys."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Which array's width is d_k?",
    "concept": "The scores are dot products of queries and keys: their spread grows with the width of these.",
    "place": "In attention_backward, use query.shape[-1].",
}
LOSES = (
    "attention_backward.values",
    "attention_backward.batch",
    "attention_backward.shared",
    "attention_backward.large",
    "attention_backward.mask",
    "attention_backward.empty_rows",
    "attention_backward.causal_small",
    "attention_backward.causal",
    "attention_backward.causal_mask",
    "attention_backward.float32",
)


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    weights = masked_softmax(scale_scores(scores(query, key), value.shape[-1]), mask)
    grad_weights, grad_value = weighted_sum_backward(grad, weights, value)
    grad_scores = scale_backward(softmax_backward(grad_weights, weights), value.shape[-1])
    return (*scores_backward(grad_scores, query, key), grad_value)
