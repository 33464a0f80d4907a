"""Everything as einsum; masked entries taken out by where=."""

import numpy as np


def scores(query, key):
    return np.einsum("...le,...se->...ls", query, key)


def scale_scores(scores, d_k):
    return np.einsum("...,->...", scores, 1 / np.sqrt(d_k))


def masked_softmax(scores, mask=None):
    mask = np.ones_like(scores, dtype=bool) if mask is None else np.broadcast_to(mask, scores.shape)
    low = np.finfo(scores.dtype).min
    peak = np.max(scores, axis=-1, keepdims=True, initial=low, where=mask)
    shifted = np.where(mask, scores, peak) - peak
    weights = np.exp(shifted) * mask
    total = np.einsum("...s->...", weights)[..., None]
    return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)


def weighted_sum(weights, value):
    return np.einsum("...ls,...sv->...lv", weights, value)


def attention(query, key, value, mask=None, is_causal=False):
    L, S = query.shape[-2], key.shape[-2]
    allowed = np.ones((L, S), dtype=bool) if mask is None else mask
    if is_causal:
        allowed = np.logical_and(allowed, np.arange(S)[None, :] <= np.arange(L)[:, None])
    return weighted_sum(masked_softmax(scale_scores(scores(query, key), query.shape[-1]), allowed), value)
