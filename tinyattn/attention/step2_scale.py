"""Step 2: keep the variance of the scores at 1, whatever the key width."""

import math

import numpy as np

from tinyattn.tensor import Tensor, op


@op
def scale(scores, *, factor):  # (..., L, S) -> (..., L, S)
    """The scores times a number: 1/sqrt(E) by default in attention (Vaswani et al., 2017, section 3.2.1)."""
    factor = scale_factor(factor)
    return scores * factor, (lambda grad: grad * factor,)


def scale_factor(scale, width=None):
    """The factor as a Python float, which never widens a float32; scale=None means 1/sqrt(width).

    TypeError for a tensor: a learnable temperature multiplies the query instead. ValueError if it is not finite.
    """
    if scale is None:
        return 1 / math.sqrt(width)
    if isinstance(scale, Tensor | np.ndarray):
        raise TypeError(
            f"scale must be a number, got {type(scale).__name__}: multiply the query by a learnable temperature"
        )
    if isinstance(scale, bool | str) or not hasattr(scale, "__float__"):
        raise TypeError(f"scale must be a number, got {type(scale).__name__}")
    factor = float(scale)
    if not math.isfinite(factor):
        raise ValueError(f"scale must be finite, got {factor}")
    return factor
