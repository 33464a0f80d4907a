"""Products in pieces, against the same numbers in another type; how OpenBLAS is asked is tested where it is NumPy's."""

import os
import subprocess
import sys

import numpy as np
import pytest

from tinyattn import Tensor, scaled_dot_product_attention
from tinyattn.attention import blas


@pytest.fixture(params=[True, False], ids=["small kernels", "no small kernels"], autouse=True)
def small_kernels(request, monkeypatch):
    """As on a processor with AVX-512, and as on any other; both are right on both."""
    monkeypatch.setattr(blas, "has_small_kernels", lambda: request.param)
    return request.param


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("turned", [False, True], ids=["a", "a.T"])
@pytest.mark.parametrize(
    ("m", "k", "n"),
    [
        *[(1024, 64, 256), (1023, 64, 256), (37, 65, 1000), (256, 1024, 64), (250, 1000, 100), (7, 1000, 1000)],
        *[(1, 1, 1), (0, 3, 4), (3, 0, 4), (3, 4, 0)],
    ],
)
def test_product(rng, m, k, n, turned, dtype):
    a = rng.integers(-9, 10, (k, m) if turned else (m, k)).astype(dtype)
    a = a.T if turned else a
    b = rng.integers(-9, 10, (k, n)).astype(dtype)
    expected = a.astype(int) @ b.astype(int)  # whole numbers are exact in floats as well
    out = np.full((m + 2, n), np.nan, dtype)
    for second in (b, b.T.copy().T, blas.second_factor(b), blas.second_factor(b.T.copy().T)):
        found = blas.product(a, second)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, expected)
        assert blas.product(a, second, out=out[1:-1]).base is out
        np.testing.assert_array_equal(out[1:-1], expected)
        assert np.isnan(out[[0, -1]]).all()


@pytest.mark.parametrize("multiplications", [0, 1, 64 * 256, 64 * 1024, 128 * 1024, 10**6, 10**7])
@pytest.mark.parametrize("rows", [0, 1, 5, 36, 128, 250, 1024])
def test_pieces_are_small_or_the_product_is_whole(rows, multiplications):
    piece, pieced = blas._pieces(rows, multiplications)
    if piece:
        assert piece * multiplications <= 10**6
        assert rows - piece < pieced <= rows
        assert pieced % piece == 0
    else:
        assert pieced == 0
        assert rows * multiplications <= 10**6 or 6 * multiplications > 10**6


@pytest.mark.parametrize("shape", [(64, 256), (65, 1000), (3, 1), (1, 31), (2, 4096)], ids=str)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_of_a_second_factor_share_no_place_in_the_cache(rng, small_kernels, shape, dtype):
    b = rng.normal(size=shape[::-1]).astype(dtype).T
    laid_out = blas.second_factor(b)
    np.testing.assert_array_equal(laid_out, b)
    if not small_kernels:
        assert laid_out is b
        return
    assert laid_out.ctypes.data % 64 == 0
    assert laid_out.strides[1] == laid_out.itemsize
    lines = laid_out.strides[0] / 64
    assert lines % 4 == 2
    places = {(row * lines + line) % 64 for row in range(32) for line in range(2)}  # the sets of a cache of 64
    assert len(places) == 64


@pytest.mark.parametrize("is_causal", [False, True])
def test_attention_is_the_same_with_either_kind_of_kernels(rng, is_causal):
    arrays = [rng.normal(size=(2, 300, 64)) for _ in range(4)]
    results = []
    for method in ("tiled", "steps"):
        leaves = [Tensor(x, requires_grad=True) for x in arrays[:3]]
        output = scaled_dot_product_attention(*leaves, is_causal=is_causal, method=method)
        output.backward(arrays[3])
        results.append([output.data, *(leaf.grad for leaf in leaves)])
    for x, y in zip(*results, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-10, atol=1e-12)


def test_the_kernels_are_those_that_openblas_was_told_to_take():
    if (here := blas.kernels()) not in ("Haswell", "Zen", "SkylakeX", "Cooperlake", "SapphireRapids"):
        pytest.skip(f"this processor's kernels, {here or 'another BLAS'}, cannot be exchanged for Haswell's")
    code = "from tinyattn.attention import blas; print(blas.kernels(), blas.has_small_kernels())"
    told = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "OPENBLAS_CORETYPE": "Haswell"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert told.stdout.split() == ["Haswell", "False"]


def test_threads_are_set_and_read_back():
    if not blas.kernels():
        pytest.skip("NumPy's BLAS here is not the OpenBLAS that its wheels bring")
    get_threads, set_threads = blas.blas_threads()
    before = get_threads()
    try:
        set_threads(1)
        assert get_threads() == 1
    finally:
        set_threads(before)
    assert get_threads() == before


def test_another_blas_has_no_kernels_and_one_thread(monkeypatch):
    monkeypatch.setattr(blas, "_functions", lambda *names: None)
    assert blas.kernels.__wrapped__() == ""
    get_threads, set_threads = blas.blas_threads.__wrapped__()
    set_threads(3)
    assert get_threads() == 1
