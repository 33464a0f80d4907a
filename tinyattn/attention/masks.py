"""Builders of boolean masks: True where a query (row) may attend to a key (column), as in PyTorch's
`scaled_dot_product_attention`. (`torch.nn.MultiheadAttention` means the opposite by True.)"""

import operator

import numpy as np

from tinyattn.backend import is_cupy
from tinyattn.tensor import Tensor


def causal_mask(L, S=None, align="upper-left"):
    """(L, S): query i sees keys 0..i, counted from the corner named by align; S defaults to L.

    'upper-left' aligns query 0 with key 0, as `is_causal=True` and PyTorch do. 'lower-right' aligns the last query with
    the last key, which decoding against a cache needs; with L > S the first L - S queries then see no key.
    """
    L = _length(L, "L")
    S = L if S is None else _length(S, "S")
    return np.tri(L, S, causal_offset(L, S, align), dtype=bool)


def causal_offset(L, S, align):
    """By how many keys the diagonal lies to the right: query i sees keys j <= i + offset."""
    if align not in ("upper-left", "lower-right"):
        raise ValueError(f"align must be 'upper-left' or 'lower-right', got {align!r}")
    return 0 if align == "upper-left" else S - L


def padding_mask(lengths, S):
    """(B, 1, 1, S): sample b may attend to its first lengths[b] keys, in every head and from every query."""
    S = _length(S, "S")
    data = lengths.data if isinstance(lengths, Tensor) else lengths
    lengths = np.asarray(data.get() if is_cupy(data) else data)
    if lengths.ndim != 1 or (lengths.size and lengths.dtype.kind not in "iu"):
        raise TypeError(f"padding_mask needs a 1-D array of integers, got shape {lengths.shape} of {lengths.dtype}")
    if lengths.size and not 0 <= lengths.min() <= lengths.max() <= S:
        raise ValueError(f"padding_mask needs lengths from 0 to S={S}, got {lengths.min()} to {lengths.max()}")
    return (np.arange(S) < lengths[:, None])[:, None, None, :]


def window_mask(L, S=None, left=None, right=None, align="upper-left"):
    """(L, S): query i sees keys i - left to i + right, both included; None is no limit, 0 on both sides self alone.

    A causal window of n tokens is left=n-1, right=0. `align` as in causal_mask.
    """
    L = _length(L, "L")
    S = L if S is None else _length(S, "S")
    left, right = window_sides((left, right))
    distance = np.arange(S) - np.arange(L)[:, None] - causal_offset(L, S, align)
    keep = np.ones((L, S), dtype=bool)
    if left is not None:
        keep &= distance >= -left
    if right is not None:
        keep &= distance <= right
    return keep


def window_sides(window) -> tuple[int | None, int | None]:
    """(left, right), each an integer or None; ValueError for a negative distance or what is not a pair."""
    if not isinstance(window, tuple | list) or len(window) != 2:
        raise ValueError(f"a window is a pair (left, right) of distances in keys or None, got {window!r}")
    left, right = window
    return None if left is None else _length(left, "left"), None if right is None else _length(right, "right")


def _length(n, name):
    try:
        n = operator.index(n)
    except TypeError:
        raise TypeError(f"{name} must be an integer, got {type(n).__name__}") from None
    if n < 0:
        raise ValueError(f"{name} must not be negative, got {n}")
    return n
