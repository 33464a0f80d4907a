"""The causal mask is aligned with the lower right corner; here it counts from the upper left one."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Which keys does query 0 see if there are more keys than queries?",
    "concept": "Causal means here: query i sees keys 0 to i.",
    "place": "In attention_backward, build the mask with np.tri(L, S).",
}
LOSES = ("attention_backward.causal", "attention_backward.causal_mask")


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], key.shape[-2] - query.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    weights = masked_softmax(scale_scores(scores(query, key), query.shape[-1]), mask)
    grad_weights, grad_value = weighted_sum_backward(grad, weights, value)
    grad_scores = scale_backward(softmax_backward(grad_weights, weights), query.shape[-1])
    return (*scores_backward(grad_scores, query, key), grad_value)
