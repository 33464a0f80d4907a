"""Loops over queries and keys, one number at a time."""

import math

import numpy as np


def scores(query, key):
    front = np.broadcast_shapes(query.shape[:-2], key.shape[:-2])
    query = np.broadcast_to(query, front + query.shape[-2:])
    key = np.broadcast_to(key, front + key.shape[-2:])
    result = np.zeros((*front, query.shape[-2], key.shape[-2]), dtype=query.dtype)
    for at in np.ndindex(*front):
        for i in range(query.shape[-2]):
            for j in range(key.shape[-2]):
                total = 0.0
                for e in range(query.shape[-1]):
                    total += query[at][i, e] * key[at][j, e]
                result[at][i, j] = total
    return result


def scale_scores(scores, d_k):
    result = np.empty_like(scores)
    for at in np.ndindex(*scores.shape):
        result[at] = scores[at] * d_k**-0.5
    return result


def masked_softmax(scores, mask=None):
    allowed = np.broadcast_to(True if mask is None else mask, scores.shape)
    weights = np.zeros_like(scores)
    for row in np.ndindex(*scores.shape[:-1]):
        seen = [j for j in range(scores.shape[-1]) if allowed[row][j]]
        if not seen:
            continue
        peak = max(scores[row][j] for j in seen)
        terms = [math.exp(scores[row][j] - peak) for j in seen]
        for j, term in zip(seen, terms, strict=True):
            weights[row][j] = term / sum(terms)
    return weights


def weighted_sum(weights, value):
    front = np.broadcast_shapes(weights.shape[:-2], value.shape[:-2])
    weights = np.broadcast_to(weights, front + weights.shape[-2:])
    value = np.broadcast_to(value, front + value.shape[-2:])
    result = np.zeros((*front, weights.shape[-2], value.shape[-1]), dtype=value.dtype)
    for at in np.ndindex(*front):
        for i in range(weights.shape[-2]):
            for j in range(weights.shape[-1]):
                result[at][i] += weights[at][i, j] * value[at][j]
    return result


def attention(query, key, value, mask=None, is_causal=False):
    table = scale_scores(scores(query, key), key.shape[-1])
    allowed = np.array(np.broadcast_to(True if mask is None else mask, table.shape))
    if is_causal:
        for i in range(table.shape[-2]):
            allowed[..., i, i + 1 :] = False
    return weighted_sum(masked_softmax(table, allowed), value)
