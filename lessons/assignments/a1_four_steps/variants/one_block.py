"""attention written by itself, in the inputs' own precision, and the softmax one row at a time."""

import numpy as np


def scores(query, key):
    return np.tensordot(query, key, axes=(-1, -1)) if query.ndim == key.ndim == 2 else query @ key.swapaxes(-2, -1)


def scale_scores(scores, d_k):
    return np.multiply(scores, d_k ** (-1 / 2))


def masked_softmax(scores, mask=None):
    def row(x, keep):
        out = np.zeros_like(x)
        if keep.any():
            e = np.exp(x[keep] - x[keep].max())
            out[keep] = e / e.sum()
        return out

    S = scores.shape[-1]
    keep = np.broadcast_to(np.array(True) if mask is None else mask, scores.shape).reshape(-1, S)
    rows = [row(x, k) for x, k in zip(scores.reshape(-1, S), keep, strict=True)]
    return np.stack(rows).reshape(scores.shape)


def weighted_sum(weights, value):
    return (weights[..., None] * value[..., None, :, :]).sum(axis=-2)


def attention(query, key, value, mask=None, is_causal=False):
    d_k = query.shape[-1]
    table = (query / d_k**0.25) @ (key / d_k**0.25).swapaxes(-1, -2)
    allowed = np.ones(table.shape, dtype=bool)
    if mask is not None:
        allowed &= mask
    if is_causal:
        allowed = np.tril(allowed)
    peak = np.where(allowed, table, -np.inf).max(axis=-1, keepdims=True)
    terms = np.where(allowed, np.exp(np.where(allowed, table - np.maximum(peak, -1e300), 0)), 0)
    total = terms.sum(axis=-1, keepdims=True)
    return (terms / np.where(total > 0, total, 1)) @ value
