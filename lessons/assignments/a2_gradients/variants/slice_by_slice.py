"""One sequence and one head at a time, in float64 whatever the inputs; each function for itself."""

import numpy as np


def over_slices(function, grad, *arrays):
    """Runs `function` on each slice of the batch and adds its results up where an input is shared."""
    front = grad.shape[:-2]
    full = [np.broadcast_to(each, front + each.shape[-2:]) for each in arrays]
    totals = [np.zeros(each.shape) for each in arrays]
    padded = [total.reshape((1,) * (len(front) + 2 - total.ndim) + total.shape) for total in totals]
    for at in np.ndindex(*front):
        found = function(grad[at].astype(float), *(each[at].astype(float) for each in full))
        for into, each in zip(padded, found, strict=True):
            place = tuple(i if into.shape[axis] > 1 else 0 for axis, i in enumerate(at))
            into[place] += each
    return tuple(totals)


def scores_backward(grad, query, key):
    return over_slices(lambda g, q, k: (g.dot(k), g.T.dot(q)), grad, query, key)


def scale_backward(grad, d_k):
    return np.multiply(grad, d_k ** (-1 / 2))


def softmax_backward(grad, weights):
    rows = zip(grad.reshape(-1, grad.shape[-1]), weights.reshape(-1, grad.shape[-1]), strict=True)
    return np.array([(np.diag(w) - np.outer(w, w)).dot(g) for g, w in rows]).reshape(grad.shape)


def weighted_sum_backward(grad, weights, value):
    return over_slices(lambda g, w, v: (g.dot(v.T), w.T.dot(g)), grad, weights, value)


def attention_backward(grad, query, key, value, mask=None, is_causal=False):
    L, S = query.shape[-2], key.shape[-2]
    mask = np.broadcast_to(True if mask is None else mask, (*grad.shape[:-2], L, S))
    masks = iter(mask.reshape(-1, L, S))

    def one(g, q, k, v):
        table = np.where(next(masks), q.dot(k.T) / np.sqrt(q.shape[1]), -np.inf)
        if is_causal:
            table[np.triu_indices(L, 1, S)] = -np.inf
        terms = np.exp(table - np.maximum(table.max(axis=1, keepdims=True), -1e300))
        total = terms.sum(axis=1, keepdims=True)
        w = np.divide(terms, total, out=terms, where=total > 0)
        above = g.dot(v.T)
        inner = w * (above - (w * above).sum(axis=1)[:, None]) / np.sqrt(q.shape[1])
        return inner.dot(k), inner.T.dot(q), w.T.dot(g)

    return over_slices(one, grad, query, key, value)
