"""The causal mask lets one key of the future in."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "May query 0 see key 1?",
    "concept": "Causal means that query i sees keys 0 to i, itself included.",
    "place": "In attention_backward, the diagonal's offset is 0.",
}
LOSES = ("attention_backward.causal*",)


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], 1, dtype=bool)
        mask = causal if mask is None else mask & causal
    weights = masked_softmax(scale_scores(scores(query, key), query.shape[-1]), mask)
    grad_weights, grad_value = weighted_sum_backward(grad, weights, value)
    grad_scores = scale_backward(softmax_backward(grad_weights, weights), query.shape[-1])
    return (*scores_backward(grad_scores, query, key), grad_value)
