"""An array of the caller's is overwritten: the gradient from above, or an input that was scaled in place."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "What do the caller's arrays hold after your function?",
    "concept": "An operator like *= or /= writes into its argument.",
    "place": "In attention_backward, find the line that writes into an argument and make a new array.",
}
LOSES = ("attention_backward.*",)


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    weights = masked_softmax(scale_scores(scores(query, key), query.shape[-1]), mask)
    grad_weights, grad_value = weighted_sum_backward(grad, weights, value)
    grad_scores = scale_backward(softmax_backward(grad_weights, weights), query.shape[-1])
    grad *= 0
    return (*scores_backward(grad_scores, query, key), grad_value)
