"""Attention(Q, K, V) = softmax(Q K^T / sqrt(E) + M) V, as its four steps.

Axes: ... any leading axes (batch, heads), L queries, S keys, E key width, Ev value width.
"""

from typing import NamedTuple

import numpy as np

from tinyattn.attention.arguments import bias_and_keep, dropout_settings, floating_inputs, masked_scores
from tinyattn.attention.dropout import dropout
from tinyattn.attention.masks import causal_mask, padding_mask, window_mask
from tinyattn.attention.step1_scores import scores
from tinyattn.attention.step2_scale import scale, scale_factor
from tinyattn.attention.step3_softmax import entropy, fused_softmax, mask, softmax
from tinyattn.attention.step4_weighted_sum import weighted_sum
from tinyattn.attention.tiled import attend_by_tiles, tiled_is_faster
from tinyattn.ops import astype
from tinyattn.tensor import Tensor

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
    if method == "tiled" or (method == "auto" and tiled_is_faster(query, key)):
        return attend_by_tiles(
            query, key, value, attn_mask, dropout_p, is_causal,
            scale=scale, enable_gqa=enable_gqa, window=window, align=align, rng=rng,
        )  # fmt: skip
    query, key, value = floating_inputs(query, key, value, enable_gqa)
    raw = scores(query, key)
    bias, keep = bias_and_keep(raw, attn_mask, is_causal, window, align)
    weights = fused_softmax(raw, bias, keep=keep, factor=scale_factor(scale, query.shape[-1]))  # steps 2 and 3 in one
    weights = astype(weights, np.result_type(query.dtype, key.dtype))
    return weighted_sum(dropout(weights, **dropout_settings(dropout_p, rng)), value)


def attention_steps(
    query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *,
    scale=None, enable_gqa=False, window=None, align="upper-left", rng=None,
):  # fmt: skip
    """Attention with its intermediates; arguments as in `scaled_dot_product_attention`."""
    query, key, value = floating_inputs(query, key, value, enable_gqa)
    raw = scores(query, key)
    scaled = _scale(raw, factor=scale_factor(scale, query.shape[-1]))
    masked = masked_scores(scaled, attn_mask, is_causal, window, align)
    weights = astype(softmax(masked), np.result_type(query.dtype, key.dtype))
    output = weighted_sum(dropout(weights, **dropout_settings(dropout_p, rng)), value)
    return AttentionSteps(raw, scaled, masked, weights, output)


_scale = scale  # the step, which the argument of the same name hides
