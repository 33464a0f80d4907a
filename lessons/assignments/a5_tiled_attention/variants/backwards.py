"""The last keys first, blocks merged as pieces, results that are not contiguous."""

import numpy as np


def merge(peak_a, total_a, peak_b, total_b):
    difference = np.where(
        peak_a == peak_b, 0, -np.abs(np.subtract(peak_a, peak_b, where=peak_a != peak_b, out=0 * total_a))
    )
    larger, smaller = np.where(peak_a >= peak_b, (total_a, total_b), (total_b, total_a))
    return np.maximum(peak_a, peak_b), larger + smaller * np.exp(difference)


def add_block(peak, total, output, scores, value):
    own = scores[..., ::-1].max(axis=-1)
    weights = np.exp(scores - np.where(own > -np.inf, own, 0)[..., None])
    sums = np.swapaxes(np.swapaxes(value, -1, -2)[..., ::-1] @ np.swapaxes(weights, -1, -2)[..., ::-1, :], -1, -2)
    new, new_total = merge(own, weights.sum(axis=-1), peak, total)
    finite = np.where(new > -np.inf, new, 0)
    return new, new_total, np.exp(own - finite)[..., None] * sums + np.exp(peak - finite)[..., None] * output


def tiled_attention(query, key, value, mask=None, is_causal=False, block=64):
    peak = np.repeat(-np.inf, np.prod(query.shape[:-1], dtype=int)).reshape(query.shape[:-1]).astype(query.dtype)
    total, output = np.zeros_like(peak), np.zeros((*peak.shape, value.shape[-1]), dtype=value.dtype)
    rows = np.arange(query.shape[-2]).reshape(-1, 1)
    for stop in range(key.shape[-2], 0, -block):
        part = slice(max(stop - block, 0), stop)
        scores = np.matmul(query, key[..., part, :].swapaxes(-1, -2)) / np.sqrt(query.shape[-1]).astype(query.dtype)
        seen = np.ones(scores.shape[-1], dtype=bool) if mask is None else mask[..., part]
        if is_causal:
            seen = seen & (rows >= np.arange(part.start, stop))
        scores = np.where(seen, scores, -np.inf)
        peak, total, output = add_block(peak, total, output, scores, value[..., part, :])
    return np.asfortranarray(output / np.where(total > 0, total, np.inf)[..., None])
