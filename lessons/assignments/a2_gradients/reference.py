"""The gradients of the four steps of attention on NumPy arrays, and of attention as the four of them in reverse."""

import math

import numpy as np
from a1_four_steps import masked_softmax, scale_scores, scores


def to_shape(grad, shape):
    """The sum over the axes along which an input of this shape was repeated."""
    grad = np.sum(grad, axis=tuple(range(grad.ndim - len(shape))))
    repeated = tuple(i for i, size in enumerate(shape) if size != grad.shape[i])
    return np.sum(grad, axis=repeated, keepdims=True)


def scores_backward(grad, query, key):
    grad_query = grad @ key
    grad_key = np.swapaxes(grad, -1, -2) @ query
    return to_shape(grad_query, query.shape), to_shape(grad_key, key.shape)


def scale_backward(grad, d_k):
    return grad / math.sqrt(d_k)


def softmax_backward(grad, weights):
    return weights * (grad - np.sum(grad * weights, axis=-1, keepdims=True))


def weighted_sum_backward(grad, weights, value):
    grad_weights = grad @ np.swapaxes(value, -1, -2)
    grad_value = np.swapaxes(weights, -1, -2) @ grad
    return to_shape(grad_weights, weights.shape), to_shape(grad_value, value.shape)


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    weights = masked_softmax(scale_scores(scores(query, key), query.shape[-1]), mask)
    grad_weights, grad_value = weighted_sum_backward(grad, weights, value)
    grad_scores = scale_backward(softmax_backward(grad_weights, weights), query.shape[-1])
    return (*scores_backward(grad_scores, query, key), grad_value)
