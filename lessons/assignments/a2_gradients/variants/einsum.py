"""Everything as einsum, with the axes in front named; results that are not contiguous."""

import numpy as np
from a1_four_steps import masked_softmax


def summed(grad, shape):
    lead = grad.ndim - len(shape)
    axes = [*range(lead), *(lead + i for i, size in enumerate(shape) if size == 1 and grad.shape[lead + i] > 1)]
    return np.add.reduce(grad, axis=tuple(axes), keepdims=True).reshape(shape)


def scores_backward(grad, query, key):
    grad_query = np.einsum("...ls,...se->...el", grad, key).swapaxes(-1, -2)
    grad_key = np.einsum("...ls,...le->...es", grad, query).swapaxes(-1, -2)
    return [summed(grad_query, query.shape), summed(grad_key, key.shape)]


def scale_backward(grad, d_k):
    return np.einsum("...,->...", grad, 1 / np.sqrt(d_k))


def softmax_backward(grad, weights):
    eye = np.eye(weights.shape[-1], dtype=weights.dtype)
    jacobian = np.einsum("...i,ij->...ij", weights, eye) - np.einsum("...i,...j->...ij", weights, weights)
    return np.einsum("...i,...ij->...j", grad, jacobian)


def weighted_sum_backward(grad, weights, value):
    grad_weights = np.einsum("...lv,...sv->...sl", grad, value).swapaxes(-1, -2)
    return grad_weights, summed(np.einsum("...lv,...ls->...sv", grad, weights), value.shape)


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    L, S, E = query.shape[-2], key.shape[-2], query.shape[-1]
    allowed = np.ones((L, S), dtype=bool) if mask is None else mask
    if is_causal:
        allowed = np.logical_and(allowed, np.arange(S)[None, :] <= np.arange(L)[:, None])
    weights = masked_softmax(np.einsum("...le,...se->...ls", query, key) / np.sqrt(E), allowed)
    grad_weights, grad_value = weighted_sum_backward(grad, weights, value)
    grad_query, grad_key = scores_backward(softmax_backward(grad_weights, weights), query / E**0.5, key / E**0.5)
    return grad_query, grad_key, grad_value
