"""The weights are computed again without any mask."""

# ruff: noqa: F821
HINTS = {
    "question": "With which weights was the output made?",
    "concept": "The backward pass needs the very weights of the forward pass.",
    "place": "In attention_backward, build the mask and pass it to masked_softmax.",
}
LOSES = ("attention_backward.mask", "attention_backward.empty_rows", "attention_backward.causal*")


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    weights = masked_softmax(scale_scores(scores(query, key), query.shape[-1]))
    grad_weights, grad_value = weighted_sum_backward(grad, weights, value)
    grad_scores = scale_backward(softmax_backward(grad_weights, weights), query.shape[-1])
    return (*scores_backward(grad_scores, query, key), grad_value)
