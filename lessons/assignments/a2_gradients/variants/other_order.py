"""Sums from the back and in pieces; the forward step's own functions used again where the formulas are the same."""

import numpy as np
from a1_four_steps import masked_softmax, scale_scores, scores, weighted_sum


def transposed(x):
    return np.moveaxis(x, -1, -2)


def undone(grad, like):
    """The sum over copies of an input that broadcasting made."""
    full = (1,) * (grad.ndim - like.ndim) + like.shape
    for axis in reversed(range(grad.ndim)):
        if full[axis] != grad.shape[axis]:
            grad = np.flip(grad, axis).sum(axis=axis, keepdims=True)
    return grad.reshape(like.shape)


def scores_backward(grad, query, key):
    grad_query = weighted_sum(grad[..., ::-1], key[..., ::-1, :])
    grad_key = weighted_sum(transposed(grad)[..., ::-1], query[..., ::-1, :])
    return undone(grad_query, query), undone(grad_key, key)


def scale_backward(grad, d_k):
    return scale_scores(grad, d_k)


def softmax_backward(grad, weights):
    product = weights * grad
    return product - weights * product[..., ::-1].sum(-1, keepdims=True)


def weighted_sum_backward(grad, weights, value):
    half = grad.shape[-2] // 2
    first, second = (
        transposed(weights[..., part, :]) @ grad[..., part, :] for part in (slice(half), slice(half, None))
    )
    return undone(scores(grad, value), weights), undone(first + second, value)


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    allowed = np.ones((query.shape[-2], key.shape[-2]), bool) if mask is None else np.array(mask)
    if is_causal:
        allowed = np.tril(np.broadcast_to(allowed, (*allowed.shape[:-2], query.shape[-2], key.shape[-2])))
    weights = masked_softmax(scale_scores(scores(query, key), query.shape[-1]), allowed)
    # The row sum of grad_weights * weights is that of grad * output, as in FlashAttention.
    rows = (grad * weighted_sum(weights, value)).sum(-1, keepdims=True)
    grad_scores = weights * (scores(grad, value) - rows) / query.shape[-1] ** 0.5
    grad_query, grad_key = scores_backward(grad_scores, query, key)
    return grad_query, grad_key, weighted_sum_backward(grad, weights, value)[1]
