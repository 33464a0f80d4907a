"""With a mask is_causal is dropped; both have to hold."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "What if a key is allowed by the mask, but in the future?",
    "concept": "A key must be allowed by the mask and by causality.",
    "place": "In attention_backward, combine the two with &.",
}
LOSES = ("attention_backward.causal_mask",)


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    if is_causal and mask is None:
        mask = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
    weights = masked_softmax(scale_scores(scores(query, key), query.shape[-1]), mask)
    grad_weights, grad_value = weighted_sum_backward(grad, weights, value)
    grad_scores = scale_backward(softmax_backward(grad_weights, weights), query.shape[-1])
    return (*scores_backward(grad_scores, query, key), grad_value)
