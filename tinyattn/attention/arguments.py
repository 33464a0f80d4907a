"""What attention is called with, checked and in the form that the steps take."""

import functools
import operator

import numpy as np

from tinyattn.attention.dropout import dropout_probability, seed_of
from tinyattn.attention.masks import causal_mask, causal_offset, window_mask, window_sides
from tinyattn.attention.step3_softmax import check_mask, mask
from tinyattn.backend import shown
from tinyattn.ops import astype, broadcast_to, expand_dims, reshape
from tinyattn.tensor import Tensor, as_tensor


def floating_inputs(query, key, value, enable_gqa, repeat=True):
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
            key, value = repeat_heads(key, query), repeat_heads(value, query)
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


def repeat_heads(x, query):
    """(..., H, S, E) -> (..., Hq, S, E): head h serves the query heads h*Hq/H to (h+1)*Hq/H - 1."""
    groups = query.shape[-3] // x.shape[-3]
    repeated = broadcast_to(expand_dims(x, axis=-3), shape=(*x.shape[:-2], groups, *x.shape[-2:]))
    return reshape(repeated, (*x.shape[:-3], query.shape[-3], *x.shape[-2:]))


def group_heads(x, heads):
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


def bias_and_keep(scores, *masks):
    """The requested masks as the fused softmax takes them: a floating tensor or None, one boolean array or None."""
    requested = requested_masks(scores, *masks)
    for each in requested:
        check_mask(each, scores.shape)
    booleans = [each.data for each in requested if each.dtype == bool]
    bias = next((each for each in requested if each.dtype != bool), None)
    return bias, functools.reduce(operator.and_, booleans) if booleans else None


def dropout_settings(dropout_p, rng):
    """{"p": probability, "seed": integer} for `dropout`; a generator is drawn from only if something is dropped."""
    p = dropout_probability(dropout_p)
    return {"p": p, "seed": seed_of(rng) if p else 0}
