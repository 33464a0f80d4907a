"""Step 3: mask, then rows to weights."""

import math

import numpy as np

from tinyattn.backend import namespace, widen
from tinyattn.ops import logsumexp, real_dtype, same, stable_peak, where
from tinyattn.tensor import as_tensor, op


@op
def mask(scores, attn_mask):  # (..., L, S), broadcasts to (..., L, S) -> (..., L, S)
    """The scores with what may not be attended to at -inf.

    A boolean mask selects: True = may attend, and whatever stands at False, NaN included, does not leak. A floating
    mask is added, in at least float32; it may require a gradient. An integer mask raises TypeError, since 0 and 1 could
    mean either. A 2-D mask is (L, S); for lengths that differ by sample see `padding_mask`.
    """
    xp = namespace(scores, attn_mask)
    check_mask(attn_mask, scores.shape)
    if attn_mask.dtype == bool:
        return xp.where(attn_mask, scores, -math.inf), (lambda grad: xp.where(attn_mask, grad, 0), None)
    # the sum stays wide, for float16 too: -65504 and a score of -20 add up to -inf in float16
    wide = widen(scores) + widen(attn_mask)
    return wide, (same, same)


def check_mask(attn_mask, shape):
    """A boolean or floating mask that broadcasts to the scores' shape (..., L, S), or TypeError / ValueError."""
    if attn_mask.dtype.kind not in "bf":
        raise TypeError(
            f"attn_mask must be boolean (True = may attend) or floating (added to the scores), got {attn_mask.dtype}"
        )
    try:
        fits = np.broadcast_shapes(attn_mask.shape, shape) == tuple(shape)
    except ValueError:
        fits = False
    if not fits:
        raise ValueError(f"attn_mask must broadcast to the scores' shape (..., L, S) = {shape}, got {attn_mask.shape}")


@op
def softmax(scores, *, axis=-1):  # (..., L, S) -> (..., L, S)
    """Rows to weights: positive, summing to one. A row of -inf alone gives zeros, a row with +inf gives NaN.

    float16 is accumulated in float32. ValueError for a tensor of shape (), which has no row.
    """
    check_axis(scores, axis)
    xp = namespace(scores)
    wide = widen(scores.astype(real_dtype(scores), copy=False))
    with np.errstate(invalid="ignore"):  # inf - inf is the NaN that is promised
        weights = xp.exp(wide - stable_peak(wide, axis))
        total = xp.sum(weights, axis=axis, keepdims=True)
        weights = (weights / xp.where(total == 0, 1, total)).astype(real_dtype(scores), copy=False)

    def vjp(grad):
        grad, w = widen(grad), widen(weights)
        return (w * (grad - xp.sum(grad * w, axis=axis, keepdims=True)),)

    return weights, vjp


def check_axis(scores, axis):
    if scores.ndim == 0:
        raise ValueError("softmax needs at least one axis, got a tensor of shape ()")
    if not isinstance(axis, int | np.integer) or isinstance(axis, bool):
        raise TypeError(f"softmax needs one axis, an integer, got {axis!r}")
    if not -scores.ndim <= axis < scores.ndim:
        raise ValueError(f"softmax along axis {axis} needs a tensor with that axis, got shape {scores.shape}")


def entropy(scores, axis=-1):
    """Entropy in nats of softmax(scores): 0 for one weight of 1, log(S) for S equal ones.

    Written on the scores, since weight * log(weight) has a NaN gradient where a weight is 0.
    """
    scores = as_tensor(scores)
    finite = where(scores > -np.inf, scores, 0)
    return logsumexp(scores, axis=axis) - (softmax(scores, axis=axis) * finite).sum(axis=axis)
