"""One einsum over groups instead of copied heads, and results that are not contiguous."""

import numpy as np


def causal_mask(L, S, align="upper-left"):
    rows, columns = np.ogrid[:L, :S]
    if align == "lower-right":
        return (L - 1 - rows) <= (S - 1 - columns)
    return rows >= columns


def padding_mask(lengths, S):
    return np.less.outer(np.arange(S), lengths).T.reshape(-1, 1, 1, S)


def split_heads(x, num_heads):
    return np.moveaxis(np.stack(np.split(x, num_heads, axis=-1)), 0, -3)


def merge_heads(x):
    return np.asfortranarray(np.moveaxis(x, -3, -2).reshape(*x.shape[:-3], x.shape[-2], x.shape[-3] * x.shape[-1]))


def share_heads(x, num_heads):
    H = x.shape[-3]
    wide = np.broadcast_to(x[..., :, None, :, :], (*x.shape[:-2], num_heads // H, *x.shape[-2:]))
    return wide.reshape(*x.shape[:-3], num_heads, *x.shape[-2:])


def multi_head_attention(query, key, value, num_heads, num_kv_heads=None, mask=None, align=None):
    G = num_heads if num_kv_heads is None else num_kv_heads
    R, L, S = num_heads // G, query.shape[-2], key.shape[-2]
    q = query.reshape(*query.shape[:-1], G, R, -1)
    k, v = (x.reshape(*x.shape[:-1], G, -1) for x in (key, value))
    table = np.einsum("...lgre,...sge->...grls", q, k) * (1 / np.sqrt(q.shape[-1]))
    allowed = np.ones((num_heads, L, S), dtype=bool) if mask is None else mask & np.ones((num_heads, L, S), dtype=bool)
    if align is not None:
        allowed = allowed & np.tril(np.ones((L, S), dtype=bool), 0 if align == "upper-left" else S - L)
    allowed = allowed.reshape(*allowed.shape[:-3], G, R, L, S)
    table = np.where(allowed, table, -1e30)
    weights = np.exp(table - table.max(-1, keepdims=True)) * allowed
    total = weights.sum(-1, keepdims=True)
    weights = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    out = np.einsum("...grls,...sgv->...lgrv", weights, v)
    return out.reshape(*out.shape[:-3], -1)
