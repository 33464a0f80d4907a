"""The gradient is measured by moving each input a little and looking; it has to be derived."""

# ruff: noqa: F821
import numpy as np
from a1_four_steps import weighted_sum

HINTS = {
    "question": "How often does your function run the forward pass?",
    "concept": "A derived gradient costs two forward passes or so; a measured one costs two for every number.",
    "place": "Use the chain rule, which gives each gradient as a product of arrays; differences only check it.",
}
LOSES = ("scores_backward.*", "softmax_backward.*", "weighted_sum_backward.*", "attention_backward.*")
STATUS = "numerical gradient"


def central(function, grad, x):
    """The gradient of sum(grad * function(x)), by central differences."""
    gradient = np.zeros(x.shape)
    for at in np.ndindex(*x.shape):
        step = np.zeros(x.shape)
        step[at] = 1e-6
        gradient[at] = np.sum(grad * (function(x + step) - function(x - step))) / 2e-6
    return gradient


def scores_backward(grad, query, key):
    return central(lambda x: scores(x, key), grad, query), central(lambda x: scores(query, x), grad, key)


def softmax_backward(grad, weights):
    with np.errstate(divide="ignore"):
        return central(masked_softmax, grad, np.log(weights))


def weighted_sum_backward(grad, weights, value):
    return central(lambda x: weighted_sum(x, value), grad, weights), central(
        lambda x: weighted_sum(weights, x), grad, value
    )


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    def attention(query, key, value):
        allowed = np.ones((query.shape[-2], key.shape[-2]), bool) if mask is None else mask
        if is_causal:
            allowed = np.logical_and(allowed, np.tri(query.shape[-2], key.shape[-2], dtype=bool))
        return masked_softmax(scale_scores(scores(query, key), query.shape[-1]), allowed) @ value

    return (
        central(lambda x: attention(x, key, value), grad, query),
        central(lambda x: attention(query, x, value), grad, key),
        central(lambda x: attention(query, key, x), grad, value),
    )
