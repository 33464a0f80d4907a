"""Loops over single numbers; the chain rule one term at a time."""

import math

import numpy as np


def broadcast(array, front):
    return np.broadcast_to(array, front + array.shape[-2:])


def gathered(grad, shape):
    """Adds up over the axes in front until the gradient has the shape of its input."""
    while grad.ndim > len(shape):
        grad = grad.sum(axis=0)
    for axis, size in enumerate(shape):
        if size == 1:
            grad = grad.sum(axis=axis, keepdims=True)
    return grad


def scores_backward(grad, query, key):
    front = grad.shape[:-2]
    queries, keys = broadcast(query, front), broadcast(key, front)
    grad_query, grad_key = np.zeros(queries.shape, grad.dtype), np.zeros(keys.shape, grad.dtype)
    for *at, i, j in np.ndindex(*grad.shape):
        for e in range(query.shape[-1]):
            grad_query[(*at, i, e)] += grad[(*at, i, j)] * keys[(*at, j, e)]
            grad_key[(*at, j, e)] += grad[(*at, i, j)] * queries[(*at, i, e)]
    return gathered(grad_query, query.shape), gathered(grad_key, key.shape)


def scale_backward(grad, d_k):
    result = np.empty_like(grad)
    for at in np.ndindex(*grad.shape):
        result[at] = grad[at] * d_k**-0.5
    return result


def softmax_backward(grad, weights):
    result = np.zeros_like(grad)
    for *row, j in np.ndindex(*grad.shape):
        for i in range(grad.shape[-1]):
            slope = weights[(*row, i)] * ((i == j) - weights[(*row, j)])
            result[(*row, j)] += grad[(*row, i)] * slope
    return result


def weighted_sum_backward(grad, weights, value):
    front = grad.shape[:-2]
    values = broadcast(value, front)
    grad_weights, grad_value = np.zeros(weights.shape, grad.dtype), np.zeros(values.shape, grad.dtype)
    for *at, i, j in np.ndindex(*weights.shape):
        for e in range(value.shape[-1]):
            grad_weights[(*at, i, j)] += grad[(*at, i, e)] * values[(*at, j, e)]
            grad_value[(*at, j, e)] += grad[(*at, i, e)] * weights[(*at, i, j)]
    return grad_weights, gathered(grad_value, value.shape)


def row_weights(row, allowed):
    seen = [j for j in range(len(row)) if allowed[j]]
    weights = np.zeros_like(row)
    if seen:
        peak = max(row[j] for j in seen)
        for j in seen:
            weights[j] = math.exp(row[j] - peak)
        weights /= weights.sum()
    return weights


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    front, L, S = grad.shape[:-2], query.shape[-2], key.shape[-2]
    queries, keys = broadcast(query, front), broadcast(key, front)
    allowed = np.array(np.broadcast_to(True if mask is None else mask, (*front, L, S)))
    weights = np.zeros((*front, L, S), grad.dtype)
    for *at, i in np.ndindex(*front, L):
        if is_causal:
            allowed[(*at, i)][i + 1 :] = False
        row = keys[tuple(at)] @ queries[(*at, i)] / math.sqrt(query.shape[-1])
        weights[(*at, i)] = row_weights(row, allowed[(*at, i)])
    grad_weights, grad_value = weighted_sum_backward(grad, weights, value)
    grad_scores = scale_backward(softmax_backward(grad_weights, weights), query.shape[-1])
    return *scores_backward(grad_scores, query, key), grad_value
