"""Other ways to score a query against a key: additive, dot, general, and dot products of normalised vectors."""

import math

from tinyattn.attention import scores, softmax, weighted_sum
from tinyattn.attention.arguments import masked_scores
from tinyattn.ops import expand_dims, matmul, normalize, tanh
from tinyattn.tensor import as_tensor


def additive_scores(query, key, query_weight, key_weight, vector):
    """vector . tanh(query_weight query + key_weight key): (..., L, Eq), (..., S, Ek) -> (..., L, S).

    query_weight (A, Eq), key_weight (A, Ek), vector (A,). Costs a table of L x S x A numbers, where a dot product is
    one matrix product. Bahdanau, Cho and Bengio, 2015, appendix A.1.2.
    """
    query, key, query_weight, key_weight, vector = map(as_tensor, (query, key, query_weight, key_weight, vector))
    sizes = (query_weight.shape, key_weight.shape, vector.shape)
    width = vector.shape[0] if vector.ndim == 1 else None
    if sizes != ((width, query.shape[-1]), (width, key.shape[-1]), (width,)):
        raise ValueError(
            "additive scores need query_weight (A, Eq), key_weight (A, Ek) and vector (A,), "
            f"got {sizes} for query {query.shape} and key {key.shape}"
        )
    rows = expand_dims(matmul(query, query_weight.T), axis=-2)
    columns = expand_dims(matmul(key, key_weight.T), axis=-3)
    return matmul(tanh(rows + columns), vector)


def luong_scores(query, key, weight=None):
    """query . key, or query^T weight key with weight (Eq, Ek): (..., L, Eq), (..., S, Ek) -> (..., L, S), unscaled.

    'dot' and 'general' of Luong, Pham and Manning, 2015, section 3.1.
    """
    query, key = as_tensor(query), as_tensor(key)
    if weight is None:
        return scores(query, key)
    weight = as_tensor(weight)
    if weight.shape != (query.shape[-1], key.shape[-1]):
        raise ValueError(f"general scores need weight (Eq, Ek), got {weight.shape} for {query.shape} and {key.shape}")
    return scores(matmul(query, weight), key)


def additive_attention(query, key, value, query_weight, key_weight, vector, attn_mask=None, is_causal=False):
    """Attention with `additive_scores`: (..., L, Ev). Masks as in `scaled_dot_product_attention`."""
    return _attend(additive_scores(query, key, query_weight, key_weight, vector), value, attn_mask, is_causal)


def luong_attention(query, key, value, weight=None, attn_mask=None, is_causal=False, *, score="dot"):
    """Attention with `luong_scores`: score='dot' takes no weight, score='general' needs one. (..., L, Ev)."""
    if score not in ("dot", "general"):
        raise ValueError(f"score must be 'dot' or 'general', got {score!r}")
    if (weight is None) == (score == "general"):
        raise ValueError(f"score='general' needs a weight and score='dot' takes none, got score={score!r}")
    return _attend(luong_scores(query, key, weight), value, attn_mask, is_causal)


def _attend(raw, value, attn_mask, is_causal):
    return weighted_sum(softmax(masked_scores(raw, attn_mask, is_causal)), value)


def qk_norm(query, key, temperature=None, *, norm="l2", eps=1e-6):
    """Query and key with every vector (per head, along the last axis) at one length, the query times `temperature`.

    norm='l2' gives length 1: products lie in [-1, 1], so attend with scale=1 and let the temperature sharpen them
    (Henry et al., 2020). norm='rms' gives length sqrt(E): products lie in [-E, E], which the default scale turns into
    sqrt(E) times the cosine (Dehghani et al., 2023). A zero vector stays zero, with gradient 0. temperature is a
    number or a tensor that broadcasts, (H, 1, 1) for one per head.
    """
    if norm not in ("l2", "rms"):
        raise ValueError(f"norm must be 'l2' or 'rms', got {norm!r}")
    length = 1.0 if norm == "l2" else math.sqrt(as_tensor(query).shape[-1])
    query, key = (normalize(x, axis=-1, eps=eps * length) * length for x in (query, key))
    return (query if temperature is None else query * temperature), key
