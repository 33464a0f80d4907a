"""Attention without the softmax's table: linear attention."""

import numpy as np

from tinyattn.ops import astype, concat, exp, matmul, maximum, minimum, where
from tinyattn.tensor import as_tensor

CHUNK = 64  # queries that the causal form takes at a time: a table of CHUNK x CHUNK beside the running state


def linear_attention(query, key, value, is_causal=False, *, feature_map=None, eps=1e-30):
    """phi(query) (phi(key)^T value) / (phi(query) . sum of phi(key)): (..., L, Ev).

    Shapes: query (..., L, E), key (..., S, E), value (..., S, Ev).
    The weights are products of features, not exponentials of products, so keys and values are summed up once, in
    E x Ev numbers, whatever S is. is_causal (L = S) keeps that sum running: O(L) time and memory.

    feature_map is a function on tensors whose values are not negative; elu(x) + 1 by default. The denominator is at
    least eps once the features are scaled so that their largest is 1: per query, and over all keys unless is_causal.
    In float32 the default map holds for entries in [-60, 1e30], or [-60, 1e15] if causal; below, features underflow to
    0 and the output with them. float16 is computed in float32. Katharopoulos et al., "Transformers are RNNs", 2020.
    """
    if not 0 < eps <= 1e-6:
        raise ValueError(f"eps must be above 0 and at most 1e-6, got {eps}")
    phi = elu_plus_one if feature_map is None else feature_map
    query, key, value = as_tensor(query), as_tensor(key), as_tensor(value)
    if query.dtype == np.float16:
        query, key, value = (astype(x, np.float32) for x in (query, key, value))
        output = linear_attention(query, key, value, is_causal, feature_map=feature_map, eps=eps)
        return astype(output, np.float16)
    if query.shape[-1:] != key.shape[-1:] or key.shape[-2:-1] != value.shape[-2:-1] or query.ndim < 2 or key.ndim < 2:
        raise ValueError(
            "linear_attention needs query (..., L, E), key (..., S, E) and value (..., S, Ev), "
            f"got {query.shape}, {key.shape} and {value.shape}"
        )
    if is_causal and query.shape[-2] != key.shape[-2]:
        raise ValueError(f"causal linear_attention needs as many queries as keys, got {query.shape} and {key.shape}")
    features, key_features = _largest_is_one(phi(query), axis=-1), phi(key)
    if is_causal:
        return _running(features, key_features, value, eps)
    key_features = _largest_is_one(key_features, axis=(-2, -1))
    summed = matmul(key_features.mT, value)
    return matmul(features, summed) / maximum((features * key_features.sum(axis=-2, keepdims=True)).sum(-1, True), eps)


def elu_plus_one(x):
    """x + 1 where x > 0, exp(x) elsewhere: positive, with a gradient everywhere."""
    return where(x > 0, x + 1, exp(minimum(x, 0)))


def _running(query, key, value, eps):
    """The causal form, CHUNK queries at a time: what came before is in the state, the chunk itself in a small table."""
    outputs = []
    summed = total = None
    for start in range(0, query.shape[-2], CHUNK):
        q, k, v = (x[..., start : start + CHUNK, :] for x in (query, key, value))
        table = where(np.tri(q.shape[-2], dtype=bool), matmul(q, k.mT), 0)
        above, below = matmul(table, v), table.sum(axis=-1, keepdims=True)
        if summed is not None:
            above, below = above + matmul(q, summed), below + (q * total).sum(axis=-1, keepdims=True)
        outputs.append(above / maximum(below, eps))
        more, count = matmul(k.mT, v), k.sum(axis=-2, keepdims=True)
        summed, total = (more, count) if summed is None else (summed + more, total + count)
    return concat(outputs, axis=-2) if outputs else matmul(query, matmul(key.mT, value))


def _largest_is_one(features, axis):
    """Divided by their largest, taken as a constant: it cancels between numerator and denominator."""
    if features.size == 0:
        return features
    peak = features.detach().max(axis=axis, keepdims=True)
    return features / where(peak > 0, peak, 1)
