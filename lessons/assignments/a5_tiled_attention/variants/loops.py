"""One query at a time, one key at a time: blocks of one, whatever was asked for."""

import math

import numpy as np


def merge(peak_a, total_a, peak_b, total_b):
    peak, total = np.empty_like(peak_a), np.empty_like(total_a)
    for at in np.ndindex(peak_a.shape):
        high = max(peak_a[at], peak_b[at])
        peak[at], total[at] = high, 0
        for p, t in ((peak_a[at], total_a[at]), (peak_b[at], total_b[at])):
            if t > 0:
                total[at] += t * math.exp(p - high)
    return peak, total


def add_block(peak, total, output, scores, value):
    peak, total, output = peak.copy(), total.copy(), output.copy()
    for row in np.ndindex(peak.shape):
        for j in range(scores.shape[-1]):
            x = scores[row][j]
            if x == -np.inf:
                continue
            if x > peak[row]:
                old = math.exp(peak[row] - x)
                total[row] *= old
                output[row] *= old
                peak[row] = x
            weight = math.exp(x - peak[row])
            total[row] += weight
            output[row] += weight * value[row[:-1]][j]
    return peak, total, output


def tiled_attention(query, key, value, mask=None, is_causal=False, block=64):
    L, S, E = query.shape[-2], key.shape[-2], query.shape[-1]
    allowed = None if mask is None else np.broadcast_to(mask, (*query.shape[:-1], S))
    result = np.zeros((*query.shape[:-1], value.shape[-1]))
    for row in np.ndindex(*query.shape[:-1]):
        batch, i = row[:-1], row[-1]
        last = min(i + 1, S) if is_causal else S
        scores = key[batch][:last] @ query[row] / math.sqrt(E)
        if allowed is not None:
            scores = np.where(allowed[row][:last], scores, -np.inf)
        if L and scores.max() > -np.inf:
            weights = np.exp(scores - scores.max())
            result[row] = weights @ value[batch][:last] / weights.sum()
    return result
