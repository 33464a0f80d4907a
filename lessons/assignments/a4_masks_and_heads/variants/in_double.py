"""float64 throughout, whatever came in; a mask that is added; a zero in place of an empty row afterwards."""

import numpy as np


def causal_mask(L, S, align="upper-left"):
    big = np.tri(max(L, S), dtype=bool)
    return big[:L, :S] if align == "upper-left" else big[-L:, -S:] if L <= S else np.tri(L, S, S - L, dtype=bool)


def padding_mask(lengths, S):
    return (np.broadcast_to(np.arange(S), (len(lengths), S)) + 1 <= lengths.reshape(-1, 1)).reshape(-1, 1, 1, S)


def split_heads(x, num_heads):
    return np.ascontiguousarray(np.swapaxes(x.reshape((*x.shape[:-1], num_heads, -1)), -2, -3))


def merge_heads(x):
    return np.ascontiguousarray(np.swapaxes(x, -2, -3)).reshape((*x.shape[:-3], x.shape[-2], -1))


def share_heads(x, num_heads):
    return x.repeat(num_heads // x.shape[-3], axis=x.ndim - 3)


def multi_head_attention(query, key, value, num_heads, num_kv_heads=None, mask=None, align=None):
    query, key, value = (x.astype(np.float64) for x in (query, key, value))
    bias = np.zeros((query.shape[-2], key.shape[-2]))
    if mask is not None:
        bias = bias + np.where(mask, 0, -np.inf)
    if align is not None:
        bias = bias + np.where(causal_mask(query.shape[-2], key.shape[-2], align), 0, -np.inf)
    kv_heads = num_kv_heads or num_heads
    parts = []
    for h in range(num_heads):
        g = h * kv_heads // num_heads
        q = np.split(query, num_heads, axis=-1)[h]
        k, v = (np.split(x, kv_heads, axis=-1)[g] for x in (key, value))
        own = bias if bias.ndim == 2 else bias[..., h if bias.shape[-3] > 1 else 0, :, :]
        table = q @ np.swapaxes(k, -1, -2) / q.shape[-1] ** 0.5 + own
        weights = np.exp(table - np.nan_to_num(table.max(-1, keepdims=True), neginf=0.0))
        parts.append(weights @ v / np.maximum(weights.sum(-1, keepdims=True), 1e-300))
    return np.concatenate(parts, axis=-1)
