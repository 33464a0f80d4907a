"""Only the values get a gradient: the weights are treated as constants, and nothing would ever learn where to look."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Do the weights depend on the queries?",
    "concept": "The gradient reaches queries and keys through the weights.",
    "place": "In attention_backward, go on from the weights' gradient.",
}
LOSES = ("attention_backward.*",)


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    weights = masked_softmax(scale_scores(scores(query, key), query.shape[-1]), mask)
    _, grad_value = weighted_sum_backward(grad, weights, value)
    grad_scores = np.zeros_like(weights)
    return (*scores_backward(grad_scores, query, key), grad_value)
