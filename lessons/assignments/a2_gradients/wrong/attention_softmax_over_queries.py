"""The weights are computed again with a softmax over the queries."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Along which axis do the weights sum to one?",
    "concept": "Each query has its own weights over the keys.",
    "place": "In attention_backward, apply the softmax along the last axis.",
}
LOSES = ("attention_backward.*",)


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    turned = (
        None
        if mask is None
        else np.swapaxes(np.broadcast_to(mask, (*mask.shape[:-2], query.shape[-2], key.shape[-2])), -1, -2)
    )
    table = np.swapaxes(scale_scores(scores(query, key), query.shape[-1]), -1, -2)
    weights = np.swapaxes(masked_softmax(table, turned), -1, -2)
    grad_weights, grad_value = weighted_sum_backward(grad, weights, value)
    grad_scores = scale_backward(softmax_backward(grad_weights, weights), query.shape[-1])
    return (*scores_backward(grad_scores, query, key), grad_value)
