"""einsum; NaN cleared away afterwards; the state kept in one array."""

import numpy as np


def merge(peak_a, total_a, peak_b, total_b):
    peak = np.where(peak_a > peak_b, peak_a, peak_b)
    with np.errstate(invalid="ignore"):
        factors = np.nan_to_num(np.exp(np.stack([peak_a, peak_b]) - peak))
    return peak, np.einsum("a...,a...->...", factors, np.stack([total_a, total_b]))


def add_block(peak, total, output, scores, value):
    ones = np.ones((*value.shape[:-1], 1), dtype=value.dtype)
    sums = np.concatenate([output, total[..., None]], axis=-1)
    new = np.max(np.concatenate([peak[..., None], scores], axis=-1), axis=-1)
    with np.errstate(invalid="ignore"):
        old, weights = np.nan_to_num(np.exp(peak - new)), np.nan_to_num(np.exp(scores - new[..., None]))
    sums = np.einsum("...l,...lv->...lv", old, sums)
    sums = sums + np.einsum("...lt,...tv->...lv", weights, np.concatenate([value, ones], axis=-1))
    return new, sums[..., -1], sums[..., :-1]


def tiled_attention(query, key, value, mask=None, is_causal=False, block=64):
    L, S = query.shape[-2], key.shape[-2]
    query = query * query.shape[-1] ** -0.5
    state = (
        np.full(query.shape[:-1], -np.inf, query.dtype),
        np.zeros(query.shape[:-1], query.dtype),
        np.zeros((*query.shape[:-1], value.shape[-1]), query.dtype),
    )
    for start in range(0, S, block):
        stop = min(start + block, S)
        allowed = np.ones((L, stop - start), dtype=bool)
        if is_causal:
            allowed = np.arange(start, stop) <= np.arange(L)[:, None]
        if mask is not None:
            allowed = allowed & mask[..., start:stop]
        scores = np.einsum("...le,...te->...lt", query, key[..., start:stop, :])
        state = add_block(*state, np.where(allowed, scores, -np.inf), value[..., start:stop, :])
    _, total, output = state
    return np.divide(output, total[..., None], out=np.zeros_like(output), where=total[..., None] > 0)
