"""Step 3: mask, then rows to weights."""

import functools
import math
from pathlib import Path

import numpy as np

from tinyattn.attention.step2_scale import scale
from tinyattn.backend import is_cupy, namespace, shape_of, widen
from tinyattn.ops import axis_of, dot_along, logsumexp, real_dtype, same, stable_peak, where
from tinyattn.tensor import as_tensor, op


@op
def mask(scores, attn_mask):  # (..., L, S), broadcasts to (..., L, S) -> (..., L, S)
    """The scores with what may not be attended to at -inf.

    A boolean mask selects: True = may attend, and whatever stands at False, NaN included, does not leak. A floating
    mask is added, in at least float32; it may require a gradient. An integer mask raises TypeError, since 0 and 1 could
    mean either. A 2-D mask is (L, S); for lengths that differ by sample see `padding_mask`.
    """
    xp = namespace(scores, attn_mask)
    check_mask(attn_mask, shape_of(scores))
    if attn_mask.dtype == bool:
        return xp.where(attn_mask, scores, -math.inf), (lambda grad: xp.where(attn_mask, grad, 0), None)
    # the sum stays wide, for float16 too: -65504 and a score of -20 add up to -inf in float16
    wide = widen(scores) + widen(attn_mask)
    return wide, (same, same)


def check_mask(attn_mask, shape):
    """A boolean or floating mask that broadcasts to the scores' shape (..., L, S), or TypeError / ValueError."""
    dtype = getattr(attn_mask, "dtype", None)
    if dtype is None or dtype.kind not in "bf":
        raise TypeError(
            "attn_mask must be a boolean array (True = may attend) or a floating one (added to the scores), "
            f"got {dtype or type(attn_mask).__name__}"
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
    xp = namespace(scores)
    axis = axis_of(scores, axis, "softmax")
    wide = widen(scores.astype(real_dtype(scores), copy=False))
    with np.errstate(over="ignore", invalid="ignore"):  # -max - max is as good as -inf, inf - inf the NaN promised
        weights = wide - stable_peak(wide, axis)
        xp.exp(weights, out=weights)  # in place, as below: a fresh table costs as much time as the arithmetic
        total = xp.sum(weights, axis=axis, keepdims=True)
        weights /= xp.where(total == 0, 1, total)
    weights = weights.astype(real_dtype(scores), copy=False)

    def vjp(grad):
        grad, w = widen(grad), widen(weights)
        return (w * (grad - dot_along(grad, w, axis)),)

    return weights, vjp


@op
def fused_softmax(scores, bias=None, *, keep=None, factor=1.0):  # (..., L, S) -> (..., L, S)
    """softmax(scores * factor + bias) where keep is True: steps 2 and 3 in one, and on the GPU in one launch.

    bias is a floating mask or None, keep a boolean one or None; both broadcast to the scores' shape (..., L, S).
    """
    masked, _ = scale.forward(scores, factor=factor)
    for attn_mask in (bias, keep):
        if attn_mask is not None:
            masked, _ = mask.forward(masked, attn_mask)
    weights, softmax_vjp = softmax.forward(masked)

    def vjp(grad):
        (masked_grad,) = softmax_vjp(grad)  # 0 wherever keep is False, as the weights are
        return masked_grad * factor, masked_grad if bias is not None else None

    return weights.astype(real_dtype(scores), copy=False), vjp


@fused_softmax.cuda
def fused_softmax_cuda(scores, bias=None, *, keep=None, factor=1.0):
    """One launch forward, one for each gradient backward; float32 and float16, everything else as on the CPU."""
    wide_bias = bias is not None and bias.dtype == np.float64
    if scores.dtype not in (np.float16, np.float32) or scores.size == 0 or scores.ndim == 0 or wide_bias:
        return fused_softmax.forward(scores, bias, keep=keep, factor=factor)
    xp = namespace(scores)
    for attn_mask in (bias, keep):
        if attn_mask is not None:
            check_mask(attn_mask, scores.shape)
    weights = xp.empty(scores.shape, scores.dtype)
    masks = _rows_of_masks(keep, None if bias is None else widen(bias), scores.shape)
    _launch("fused", 1, (scores, weights), (np.float32(factor), *masks))

    def gradient(grad, factor):
        scores_grad = xp.empty(scores.shape, scores.dtype)
        grad = grad.astype(scores.dtype, copy=False)
        _launch("gradient", 2, (weights, grad, scores_grad), (np.float32(factor),))
        return scores_grad

    return weights, (lambda grad: gradient(grad, factor), lambda grad: gradient(grad, 1.0))


@softmax.cuda
def softmax_cuda(scores, *, axis=-1):
    if axis_of(scores, axis, "softmax") != scores.ndim - 1:
        return softmax.forward(scores, axis=axis)
    weights, vjp = fused_softmax_cuda(scores, None)
    return weights, vjp[:1] if isinstance(vjp, tuple) else lambda grad: vjp(grad)[:1]


SHARED_BYTES = 96 * 1024  # most of a row to keep in shared memory: with more, too few blocks fit beside each other


@functools.cache
def _kernel(name, device):
    from tinyattn import kernels  # only a launch needs it, and it is half of what `import tinyattn` takes

    return kernels.load(Path(__file__).with_suffix(".cu"), device).get_function(name)


@functools.cache
def _shared_bytes(device):
    from tinyattn import kernels

    return min(SHARED_BYTES, kernels.most_shared(device) - 512)  # the reduction has some shared memory too


def _launch(kind, tables_kept, tables, settings):
    """One of the kernels `fused` and `gradient`: by row length in registers, shared memory, or reading rows again."""
    columns = tables[0].shape[-1]
    rows = tables[0].size // columns
    shared_mem = 4 * columns * tables_kept
    device = "cuda" if is_cupy(tables[0]) else "emulated"
    place = "registers" if columns <= 1024 else "shared" if shared_mem <= _shared_bytes(device) else "reread"
    kernel = _kernel(f"{kind}_{place}_{tables[0].dtype}", device)
    if place == "registers":
        kernel((-(-rows // 4),), (32, 4), (*tables, rows, columns, *settings))
    else:
        threads = 256 if columns <= 4096 else 512 if columns <= 16384 else 1024
        kernel((rows,), (threads,), (*tables, columns, *settings), shared_mem=shared_mem if place == "shared" else 0)


def _rows_of_masks(keep, bias, shape):
    """keep and bias as tables of whole rows, and for each row of the scores the number of its row in them."""
    masks = [m for m in (keep, bias) if m is not None]
    if not masks:
        return None, None, None
    xp = namespace(*masks)
    lead = np.broadcast_shapes(*(m.shape[:-1] for m in masks))
    keep, bias = (m if m is None else xp.broadcast_to(m, (*lead, shape[-1])) for m in (keep, bias))
    numbers = xp.arange(math.prod(lead), dtype=np.int32).reshape(lead)
    return keep, bias, xp.broadcast_to(numbers, shape[:-1])


def entropy(scores, axis=-1):
    """Entropy in nats of softmax(scores): 0 for one weight of 1, log(S) for S equal ones.

    Written on the scores, since weight * log(weight) has a NaN gradient where a weight is 0.
    """
    scores = as_tensor(scores)
    finite = where(scores > -np.inf, scores, 0)
    return logsumexp(scores, axis=axis) - (softmax(scores, axis=axis) * finite).sum(axis=axis)
