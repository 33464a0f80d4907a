"""The mask is multiplied in after the softmax: the weights that are left do not sum to one."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Do the weights of a row sum to one?",
    "concept": "A mask acts before the softmax.",
    "place": "In attention_backward, pass the mask to masked_softmax.",
}
LOSES = ("attention_backward.mask", "attention_backward.empty_rows", "attention_backward.causal*")


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    weights = masked_softmax(scale_scores(scores(query, key), query.shape[-1]))
    weights = weights if mask is None else weights * mask
    grad_weights, grad_value = weighted_sum_backward(grad, weights, value)
    grad_scores = scale_backward(softmax_backward(grad_weights, weights), query.shape[-1])
    return (*scores_backward(grad_scores, query, key), grad_value)
