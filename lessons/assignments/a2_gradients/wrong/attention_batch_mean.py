"""The gradients are averaged over the batch; the loss adds its sequences up."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Does the gradient of one sequence depend on how many others there are?",
    "concept": "Sequences of a batch do not mix.",
    "place": "In attention_backward, remove the division by the size of the batch.",
}
LOSES = (
    "attention_backward.batch",
    "attention_backward.shared",
    "attention_backward.mask",
    "attention_backward.causal",
    "attention_backward.causal_mask",
    "attention_backward.float32",
)


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    weights = masked_softmax(scale_scores(scores(query, key), query.shape[-1]), mask)
    grad = grad / (grad.shape[0] if grad.ndim > 2 else 1)
    grad_weights, grad_value = weighted_sum_backward(grad, weights, value)
    grad_scores = scale_backward(softmax_backward(grad_weights, weights), query.shape[-1])
    return (*scores_backward(grad_scores, query, key), grad_value)
