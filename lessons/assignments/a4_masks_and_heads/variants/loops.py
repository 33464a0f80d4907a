"""Loops over queries, keys, heads and groups."""

import math

import numpy as np


def causal_mask(L, S, align="upper-left"):
    first = {"upper-left": 0, "lower-right": S - L}[align]
    mask = np.zeros((L, S), dtype=bool)
    for i in range(L):
        for j in range(S):
            mask[i, j] = j <= i + first
    return mask


def padding_mask(lengths, S):
    mask = np.zeros((len(lengths), 1, 1, S), dtype=bool)
    for b, length in enumerate(lengths):
        mask[b, 0, 0, :length] = True
    return mask


def split_heads(x, num_heads):
    width = x.shape[-1] // num_heads
    return np.stack([x[..., h * width : (h + 1) * width] for h in range(num_heads)], axis=-3)


def merge_heads(x):
    return np.concatenate([x[..., h, :, :] for h in range(x.shape[-3])], axis=-1)


def share_heads(x, num_heads):
    group = num_heads // x.shape[-3]
    return np.stack([x[..., h // group, :, :] for h in range(num_heads)], axis=-3)


def multi_head_attention(query, key, value, num_heads, num_kv_heads=None, mask=None, align=None):
    num_kv_heads = num_kv_heads or num_heads
    E, Ev, group = query.shape[-1] // num_heads, value.shape[-1] // num_kv_heads, num_heads // num_kv_heads
    front, L, S = query.shape[:-2], query.shape[-2], key.shape[-2]
    allowed = np.broadcast_to(True if mask is None else mask, (*front, num_heads, L, S))
    result = np.zeros((*front, L, num_heads * Ev), dtype=query.dtype)
    for at in np.ndindex(*front):
        for h in range(num_heads):
            for i in range(L):
                last = S - 1 if align is None else i if align == "upper-left" else i + S - L
                seen = [j for j in range(S) if allowed[at][h, i, j] and j <= last]
                if not seen:
                    continue
                q, k = query[at][i, h * E : (h + 1) * E], h // group * E
                x = [float(q @ key[at][j, k : k + E]) / math.sqrt(E) for j in seen]
                terms = [math.exp(each - max(x)) for each in x]
                for j, term in zip(seen, terms, strict=True):
                    v = value[at][j, h // group * Ev : (h // group + 1) * Ev]
                    result[at][i, h * Ev : (h + 1) * Ev] += term / sum(terms) * v
    return result
