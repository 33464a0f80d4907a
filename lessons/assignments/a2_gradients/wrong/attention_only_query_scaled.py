"""Only the query's gradient is scaled; the key's has to be scaled too."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Through which table do both gradients come?",
    "concept": "The scale changes the scores' gradient, which goes to query and key alike.",
    "place": "In attention_backward, scale the scores' gradient before scores_backward.",
}
LOSES = ("attention_backward.*",)


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    weights = masked_softmax(scale_scores(scores(query, key), query.shape[-1]), mask)
    grad_weights, grad_value = weighted_sum_backward(grad, weights, value)
    grad_scores = softmax_backward(grad_weights, weights)
    grad_query, grad_key = scores_backward(grad_scores, query, key)
    return scale_backward(grad_query, query.shape[-1]), grad_key, grad_value
