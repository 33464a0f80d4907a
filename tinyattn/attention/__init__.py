"""Attention(Q, K, V) = softmax(Q K^T / sqrt(E) + M) V, as its four steps.

Axes: ... any leading axes (batch, heads), L queries, S keys, E key width, Ev value width.
"""

import functools
import operator
from typing import NamedTuple

import numpy as np

from tinyattn.attention.dropout import dropout, dropout_probability, seed_of
from tinyattn.attention.masks import causal_mask, causal_offset, padding_mask, window_mask, window_sides
from tinyattn.attention.step1_scores import check_scores, scores
from tinyattn.attention.step2_scale import scale, scale_factor
from tinyattn.attention.step3_softmax import check_mask, entropy, fused_softmax, mask, softmax
from tinyattn.attention.step4_weighted_sum import check_weighted_sum, weighted_sum
from tinyattn.attention.tiled import tiled_attention, tiled_is_faster
from tinyattn.backend import shown
from tinyattn.ops import astype, batch_of, broadcast_to, expand_dims, reshape
from tinyattn.tensor import Tensor, as_tensor

__all__ = [
    "AttentionSteps", "attention_steps", "causal_mask", "dropout", "entropy", "mask", "padding_mask", "scale",
    "scaled_dot_product_attention", "scores", "softmax", "weighted_sum", "window_mask",
]  # fmt: skip


class AttentionSteps(NamedTuple):
    """Every intermediate of attention; `retain_grad()` on one keeps its gradient. weights are before dropout."""

    scores: Tensor  # (..., L, S)
    scaled: Tensor  # (..., L, S)
    masked: Tensor  # (..., L, S)
    weights: Tensor  # (..., L, S)
    output: Tensor  # (..., L, Ev)


def scaled_dot_product_attention(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *,
    scale=None, enable_gqa=False, window=None, align="upper-left", method="auto", rng=None,
):  # fmt: skip
    """softmax(query key^T * scale + mask) value: (..., L, E), (..., S, E), (..., S, Ev) -> (..., L, Ev).

    attn_mask   boolean (True = may attend) or floating (added to the scores), broadcasting to (..., L, S); a 2-D mask
                is (L, S). A query that may attend to nothing gets zeros. Integer masks raise TypeError.
    dropout_p   probability with which a weight is dropped; always applied as given: pass 0 when evaluating.
    is_causal   query i sees keys 0..i, counted from the upper left also when L != S; applies on top of attn_mask.
    scale       a number, 1/sqrt(E) by default.
    enable_gqa  key and value may have fewer heads (axis -3): each serves a group of consecutive query heads.
    window      (left, right): keys within that many places before and after, both included; None is no limit.
    align       'upper-left' or 'lower-right': the corner from which is_causal and window count.
    method      'steps' (the four steps), 'tiled' (no table of scores), or 'auto' (the faster one; `tiled_is_faster`).
    rng         seed or numpy Generator for dropout: the same seed drops the same weights.

    float16 is accumulated in float32; integers become float64. ValueError and TypeError name both shapes.
    Vaswani et al., "Attention is all you need", 2017; the arguments are those of PyTorch's function of this name.
    """
    if method not in ("auto", "steps", "tiled"):
        raise ValueError(f"method must be 'auto', 'steps' or 'tiled', got {method!r}")
    settings = {"scale": scale, "enable_gqa": enable_gqa, "window": window, "align": align, "rng": rng}
    on_cpu = all(getattr(x, "device", "cpu") == "cpu" for x in (query, key, value))
    if method == "tiled" or (method == "auto" and on_cpu and tiled_is_faster(query, key)):
        return _tiled_attention(query, key, value, attn_mask, dropout_p, is_causal, **settings)
    if not on_cpu:
        return _fused_attention(query, key, value, attn_mask, dropout_p, is_causal, **settings)
    return attention_steps(query, key, value, attn_mask, dropout_p, is_causal, **settings).output


def attention_steps(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *,
    scale=None, enable_gqa=False, window=None, align="upper-left", rng=None,
):  # fmt: skip
    """Attention with its intermediates; arguments as in `scaled_dot_product_attention`."""
    query, key, value = _inputs(query, key, value, enable_gqa)
    seed = seed_of(rng) if dropout_probability(dropout_p) else 0
    raw = scores(query, key)
    scaled = _scale(raw, factor=scale_factor(scale, query.shape[-1]))
    masked = masked_scores(scaled, attn_mask, is_causal, window, align)
    weights = astype(softmax(masked), np.result_type(query.dtype, key.dtype))
    output = weighted_sum(dropout(weights, p=dropout_p, seed=seed), value)
    return AttentionSteps(raw, scaled, masked, weights, output)


def _fused_attention(query, key, value, attn_mask, dropout_p, is_causal, *, scale, enable_gqa, window, align, rng):
    """The output of attention_steps with scale, mask and softmax in one kernel."""
    query, key, value = _inputs(query, key, value, enable_gqa)
    seed = seed_of(rng) if dropout_probability(dropout_p) else 0
    raw = scores(query, key)
    masks = requested_masks(raw, attn_mask, is_causal, window, align)
    for m in masks:
        check_mask(m, raw.shape)
    keep = [m.data for m in masks if m.dtype == bool]
    bias = next((m for m in masks if m.dtype != bool), None)
    weights = fused_softmax(
        raw,
        bias,
        keep=functools.reduce(operator.and_, keep) if keep else None,
        factor=scale_factor(scale, query.shape[-1]),
    )
    return weighted_sum(dropout(astype(weights, np.result_type(query.dtype, key.dtype)), p=dropout_p, seed=seed), value)


def _tiled_attention(query, key, value, attn_mask, dropout_p, is_causal, *, scale, enable_gqa, window, align, rng):
    """The output of attention_steps without a table of scores, nor copies of grouped heads or masks of diagonals."""
    query, key, value = _inputs(query, key, value, enable_gqa, repeat=False)
    check_flag("is_causal", is_causal)
    offset = causal_offset(query.shape[-2], key.shape[-2], align) if min(query.ndim, key.ndim) > 1 else 0
    seed = seed_of(rng) if dropout_probability(dropout_p) else 0
    heads = query.shape[-3:-2]
    if enable_gqa:
        query, key, value = (_grouped(t, key.shape[-3]) for t in (query, key, value))
    check_scores(query.data, key.data)
    lead = batch_of(query.shape[:-2], key.shape[:-2], "scores", query, key)
    table = np.broadcast_to(np.float32(), (*lead, query.shape[-2], key.shape[-2]))  # what is never made
    check_weighted_sum(table, value.data)
    if attn_mask is not None:
        attn_mask = attn_mask if isinstance(attn_mask, Tensor) else as_tensor(attn_mask, device=query.device)
        check_mask(attn_mask, (*lead[:-2], *heads, *table.shape[-2:]) if enable_gqa else table.shape)
        if enable_gqa and attn_mask.ndim > 2:
            attn_mask = _grouped(attn_mask, key.shape[-4])
    learnt = attn_mask is not None and attn_mask.requires_grad
    output = tiled_attention(
        query,
        key,
        value,
        attn_mask if learnt else None,
        attn_mask=None if learnt or attn_mask is None else attn_mask.data,
        is_causal=is_causal,
        window=(None, None) if window is None else window_sides(window),
        offset=offset,
        factor=scale_factor(scale, query.shape[-1]),
        dropout_p=dropout_probability(dropout_p),
        seed=seed,
    )
    return reshape(output, (*output.shape[:-4], *heads, *output.shape[-2:])) if enable_gqa else output


_scale = scale  # the step, which the argument of the same name hides


def _inputs(query, key, value, enable_gqa, repeat=True):
    """The three as floating-point tensors on one device, key and value repeated for as many heads as the query has."""
    tensors = [query, key, value]
    device = next((t.device for t in tensors if isinstance(t, Tensor)), None)
    tensors = [t if isinstance(t, Tensor) else as_tensor(t, device=device) for t in tensors]
    query, key, value = (t if t.dtype.kind == "f" else astype(t, np.float64) for t in tensors)
    check_flag("enable_gqa", enable_gqa)
    if enable_gqa:
        check_heads(query, key, "key")
        check_heads(query, value, "value")
        if repeat or key.shape[-3] != value.shape[-3]:
            key, value = _repeat_heads(key, query), _repeat_heads(value, query)
    return query, key, value


def check_flag(name, flag):
    """True or False, or TypeError: 1, "no" and an array are more likely an argument in the wrong place."""
    if not isinstance(flag, bool | np.bool_):
        raise TypeError(f"{name} must be True or False, got {shown(flag)}")


def check_heads(query, x, name):
    """Heads of the query that are a multiple of those of key or value, or ValueError."""
    if x.ndim < 3 or query.ndim < 3:
        raise ValueError(f"enable_gqa needs a head axis, got query {query.shape} and {name} {x.shape}")
    if x.shape[-3] == 0 or query.shape[-3] % x.shape[-3]:
        raise ValueError(
            f"enable_gqa needs the query's heads to be a multiple of the {name}'s, got {query.shape} and {x.shape}"
        )


def _repeat_heads(x, query):
    """(..., H, S, E) -> (..., Hq, S, E): head h serves the query heads h*Hq/H to (h+1)*Hq/H - 1."""
    groups = query.shape[-3] // x.shape[-3]
    repeated = broadcast_to(expand_dims(x, axis=-3), shape=(*x.shape[:-2], groups, *x.shape[-2:]))
    return reshape(repeated, (*x.shape[:-3], query.shape[-3], *x.shape[-2:]))


def _grouped(x, heads):
    """(..., Hq, n, m) -> (..., heads, Hq / heads, n, m); heads that all share one stay one."""
    return reshape(x, (*x.shape[:-3], *((1, 1) if x.shape[-3] == 1 else (heads, x.shape[-3] // heads)), *x.shape[-2:]))


def masked_scores(scaled, attn_mask=None, is_causal=False, window=None, align="upper-left"):
    """The scores after every mask that was asked for."""
    for requested in requested_masks(scaled, attn_mask, is_causal, window, align):
        scaled = mask(scaled, requested)
    return scaled


def requested_masks(scaled, attn_mask=None, is_causal=False, window=None, align="upper-left"):
    """Every mask that was asked for, as tensors on the scores' device."""
    check_flag("is_causal", is_causal)
    L, S = scaled.shape[-2:]
    causal_offset(L, S, align)  # raises for an unknown corner, also where nothing is counted from it
    masks = [] if attn_mask is None else [attn_mask]
    if is_causal:
        masks.append(causal_mask(L, S, align))
    if window is not None:
        masks.append(window_mask(L, S, *window_sides(window), align=align))
    return [m if isinstance(m, Tensor) else as_tensor(m, device=scaled.device) for m in masks]
