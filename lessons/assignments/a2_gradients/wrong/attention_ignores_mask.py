"""The mask is forgotten when the weights are computed again."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "With which weights was the output made?",
    "concept": "The backward pass needs the very weights of the forward pass, mask included.",
    "place": "In attention_backward, pass the mask to masked_softmax.",
}
LOSES = ("attention_backward.mask", "attention_backward.empty_rows", "attention_backward.causal_mask")


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    mask = np.tri(query.shape[-2], key.shape[-2], dtype=bool) if is_causal else None
    weights = masked_softmax(scale_scores(scores(query, key), query.shape[-1]), mask)
    grad_weights, grad_value = weighted_sum_backward(grad, weights, value)
    grad_scores = scale_backward(softmax_backward(grad_weights, weights), query.shape[-1])
    return (*scores_backward(grad_scores, query, key), grad_value)
