"""The four steps of attention on NumPy arrays, and attention as the four of them in a row."""

import math

import numpy as np


def scores(query, key):
    return query @ np.swapaxes(key, -1, -2)


def scale_scores(scores, d_k):
    return scores / math.sqrt(d_k)


def masked_softmax(scores, mask=None):
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    peak = np.max(scores, axis=-1, keepdims=True)
    weights = np.exp(scores - np.where(np.isneginf(peak), 0, peak))
    total = np.sum(weights, axis=-1, keepdims=True)
    return weights / np.where(total == 0, 1, total)


def weighted_sum(weights, value):
    return weights @ value


def attention(query, key, value, mask=None, is_causal=False):
    if is_causal:
        causal = np.tri(query.shape[-2], key.shape[-2], dtype=bool)
        mask = causal if mask is None else mask & causal
    scaled = scale_scores(scores(query, key), query.shape[-1])
    return weighted_sum(masked_softmax(scaled, mask), value)
