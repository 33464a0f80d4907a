"""The softmax kernels' error budget, as step3_softmax.cu states it, against float64: for the tests and gpu_check.py."""

import numpy as np

U = 2.0**-24
HALF = {"float32": 0.0, "float16": 2.0**-11}  # relative rounding of the stored result
LEAST = {"float32": 2.0**-126, "float16": 2.0**-24}  # smaller results may become 0


def chain_of(columns):
    """The longest chain of additions in the engine's kernels, each weighed as a combine()."""
    threads = 32 if columns <= 1024 else 256 if columns <= 4096 else 512 if columns <= 16384 else 1024
    return 4 * (columns / threads + 10)


def exact_weights(scores, factor=1.0, bias=None, keep=None):
    """Softmax in float64 of what the kernel is given, and the budget's A and R for each row."""
    x = scores.astype(np.float64) * float(np.float32(factor))
    size = np.abs(x)
    if bias is not None:
        x, size = x + bias, np.maximum(size, np.maximum(np.abs(bias), np.abs(x + bias)))
    if keep is not None:
        x = np.where(keep, x, -np.inf)
    used = np.isfinite(x)
    peak = np.max(x, axis=-1, keepdims=True, initial=-np.inf)
    peak = np.where(np.isneginf(peak), 0, peak)
    e = np.exp(x - peak)
    total = e.sum(-1, keepdims=True)
    largest = np.max(np.where(used, size, 0), -1, keepdims=True)
    span = peak - np.min(np.where(used, x, peak), -1, keepdims=True)
    return e / np.where(total == 0, 1, total), largest, span


def weights_error(got, scores, chain, **masks):
    """The largest error of the weights as a share of their budget: 1 and less is within it."""
    exact, largest, span = exact_weights(scores, **masks)
    budget = U * (4 * largest + 2 * span + chain + 8) + HALF[scores.dtype.name]
    return _worst(got, exact, budget * exact + LEAST[scores.dtype.name])


def gradient_error(got, weights, upstream, chain, factor=1.0):
    """The largest error of d loss / d scores as a share of its budget, for the weights that the kernel was given."""
    w, g, f = weights.astype(np.float64), upstream.astype(np.float64), float(np.float32(factor))
    dot, sizes = (w * g).sum(-1, keepdims=True), np.abs(w * g).sum(-1, keepdims=True)
    exact = f * w * (g - dot)
    budget = U * np.abs(f * w) * ((chain + 2) * sizes + 3 * np.abs(g) + 3 * np.abs(dot))
    return _worst(got, exact, budget + HALF[weights.dtype.name] * np.abs(exact) + LEAST[weights.dtype.name])


def _worst(got, exact, budget):
    error = np.abs(got.astype(np.float64) - exact)
    assert np.isfinite(error).all(), "NaN or infinity where there is none"
    return float((error / budget).max(initial=0))
