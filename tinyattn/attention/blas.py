"""NumPy's own OpenBLAS: its threads, its kernels, and matrix products in the pieces that it multiplies fastest."""

import ctypes
from functools import cache, lru_cache
from pathlib import Path

import numpy as np

SMALL = 10**6  # multiplications that a product may have to be a small one
WHOLE, PART, MOST = (32, 16), 6, 36  # rows of a piece: one of WHOLE if they fit, else multiples of PART
TURNED = 128  # columns that are turned into rows at once, in the innermost cache


def product(a, b, out=None):
    """a @ b for matrices (m, k) and (k, n), fastest where b is a `second_factor`; written to out (m, n) if given.

    OpenBLAS first copies both factors into an order of its own, which takes a sixth of the time at attention's widths.
    For processors with AVX-512 it has kernels that do not, but only for small products without a transposed second
    factor (OpenBLAS, pull request 3335). So a is multiplied some rows at a time, by one call of NumPy.
    """
    if out is None:
        out = np.empty((len(a), b.shape[1]), np.result_type(a, b))
    fits = has_small_kernels() and b.strides[1] == b.itemsize
    rows, pieced = _pieces(len(a), b.size) if fits else (0, 0)
    if pieced:
        np.matmul(a[:pieced].reshape(-1, rows, len(b)), b, out=out[:pieced].reshape(-1, rows, b.shape[1]))
    if pieced < len(a):
        np.matmul(a[pieced:], b, out=out[pieced:])
    return out


def second_factor(b):
    """b (k, n), where products take it fastest: rows that begin with a cache line, an odd number of line pairs apart.

    At a distance of a power of two they would be put in the same few places of the cache, and drive each other out.
    """
    if not has_small_kernels():
        return b
    line = 64 // b.itemsize
    stride = (-(-b.shape[1] // (2 * line)) | 1) * 2 * line
    memory = np.empty(len(b) * stride + line, b.dtype)
    start = -memory.ctypes.data % 64 // b.itemsize
    laid_out = memory[start : start + len(b) * stride].reshape(-1, stride)[:, : b.shape[1]]
    for start in range(0, b.shape[1], TURNED):
        laid_out[:, start : start + TURNED] = b[:, start : start + TURNED]
    return laid_out


@lru_cache(maxsize=256)
def _pieces(rows, multiplications):
    """(rows of a piece, rows of all pieces), where one row takes so many multiplications.

    No row is in a piece where they are few, or a few would be too many already; the rest is multiplied in one.
    """
    most = SMALL // max(multiplications, 1)
    if rows <= most or most < PART:
        return 0, 0
    piece = next((whole for whole in WHOLE if whole <= most and rows % whole == 0), min(most, MOST) // PART * PART)
    return piece, rows // piece * piece


@cache
def has_small_kernels():
    return kernels() in ("SkylakeX", "Cooperlake", "SapphireRapids")


@cache
def kernels():
    """Which processor's kernels OpenBLAS has chosen, as it names them; "" for another BLAS."""
    (name,) = _functions("get_corename") or [None]
    if name is None:
        return ""
    name.restype = ctypes.c_char_p
    return name().decode()


@cache
def blas_threads():
    """(get, set): how many threads OpenBLAS uses. A pair that says 1 and does nothing for another BLAS."""
    return _functions("get_num_threads", "set_num_threads") or ((lambda: 1), (lambda threads: None))


def described():
    """NumPy's BLAS, its version, the kernels that it has chosen, and how many threads it uses, in a line."""
    told = np.show_config(mode="dicts")["Build Dependencies"]["blas"]
    chosen = f" ({kernels()})" if kernels() else ""
    return f"{told['name']} {told['version']}{chosen}, {blas_threads()[0]()} threads"


def _functions(*names):
    core = Path(np._core._multiarray_umath.__file__)  # type: ignore[attr-defined]
    bundled = (core.parents[2] / "numpy.libs").glob("*openblas*")  # Windows looks no further than the library named
    for library in map(ctypes.CDLL, map(str, (core, *bundled))):
        for pattern in ("scipy_openblas_{}64_", "scipy_openblas_{}", "openblas_{}64_", "openblas_{}"):
            if all(hasattr(library, pattern.format(name)) for name in names):
                return tuple(getattr(library, pattern.format(name)) for name in names)
    return None
