"""The peaks in a first pass over the blocks, the sums in a second; queries in blocks as well; float64 throughout."""

import numpy as np


def merge(peak_a, total_a, peak_b, total_b):
    with np.errstate(divide="ignore"):
        sums = np.logaddexp(peak_a + np.log(total_a), peak_b + np.log(total_b))
    peak = np.maximum(peak_a, peak_b)
    return peak, np.exp(sums - np.where(np.isinf(peak), 0, peak))


def add_block(peak, total, output, scores, value):
    new = np.fmax(peak, scores.max(-1))
    safe = np.nan_to_num(new, neginf=0.0)
    old = np.where(peak == -np.inf, 0, np.exp(np.where(peak == -np.inf, 0, peak) - safe))
    weights = np.exp(scores - np.expand_dims(safe, -1))
    return new, old * total + weights.sum(-1), np.expand_dims(old, -1) * output + np.matmul(weights, value)


def tiled_attention(query, key, value, mask=None, is_causal=False, block=64):
    query, key, value = (x.astype(np.float64) for x in (query, key, value))
    L, S = query.shape[-2], key.shape[-2]

    def scores(rows, keys):
        table = query[..., rows, :] @ key[..., keys, :].swapaxes(-1, -2) / query.shape[-1] ** 0.5
        if mask is not None:
            table = np.where(mask[..., rows if mask.shape[-2] > 1 else slice(None), keys], table, -np.inf)
        if is_causal:
            i, j = np.arange(L)[rows, None], np.arange(S)[keys]
            table = np.where(j <= i, table, -np.inf)
        return table

    parts = []
    for begin in range(0, L, block):
        rows = slice(begin, begin + block)
        blocks = [slice(start, start + block) for start in range(0, S, block)]
        peak = np.full(query[..., rows, 0].shape, -np.inf)
        for keys in blocks:
            peak = np.maximum(peak, scores(rows, keys).max(-1))
        peak = np.where(peak == -np.inf, 0, peak)[..., None]
        total = output = 0
        for keys in blocks:
            weights = np.exp(scores(rows, keys) - peak)
            total = total + weights.sum(-1, keepdims=True)
            output = output + weights @ value[..., keys, :]
        parts.append(output / np.where(total == 0, 1, total))
    return np.concatenate(parts, axis=-2)
