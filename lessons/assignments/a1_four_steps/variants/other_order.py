"""Another order of summation, results that are not contiguous, and a softmax that goes through the logarithm."""

import numpy as np


def scores(query, key):
    halves = [query[..., part] @ key[..., part].swapaxes(-1, -2) for part in (slice(1, None, 2), slice(0, None, 2))]
    return halves[0] + halves[1]


def scale_scores(scores, d_k):
    return np.asfortranarray(scores * (1.0 / np.sqrt(float(d_k))))


def masked_softmax(scores, mask=None):
    bias = 0.0 if mask is None else np.where(mask, 0.0, -np.inf)
    table = scores + bias
    with np.errstate(divide="ignore", invalid="ignore"):
        peak = table.max(axis=-1, keepdims=True)
        normaliser = peak + np.log(np.exp(table - peak).sum(axis=-1, keepdims=True))
        weights = np.exp(table - normaliser)
    return np.nan_to_num(weights, nan=0.0)


def weighted_sum(weights, value):
    return np.swapaxes(np.swapaxes(value, -1, -2)[..., ::-1] @ np.swapaxes(weights, -1, -2)[..., ::-1, :], -1, -2)


def attention(query, key, value, mask=None, is_causal=False):
    future = ~np.triu(np.ones((query.shape[-2], key.shape[-2]), dtype=bool), k=1) if is_causal else True
    allowed = np.asarray(True if mask is None else mask) & future
    return weighted_sum(masked_softmax(scale_scores(scores(query, key), query.shape[-1]), allowed), value)
