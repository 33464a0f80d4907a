"""The softmax kernels against float64, within the error budget that step3_softmax.cu states, in every thread order."""

import functools
import math
from pathlib import Path

import numpy as np
import pytest
from softmax_budget import chain_of, exact_weights, gradient_error, weights_error

from tinyattn import kernels
from tinyattn.attention import step3_softmax
from tinyattn.attention.step3_softmax import fused_softmax, softmax
from tinyattn.backend import to_device
from tinyattn.tensor import Tensor, as_tensor

SOURCE = Path(step3_softmax.__file__).with_suffix(".cu")
ORDERS = [("forward", 0), ("reverse", 0), ("random", 3)]


def normal(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


@pytest.fixture
def run_with(device, monkeypatch):
    """Makes the ops launch their kernels with these options of the emulator."""

    def choose(**options):
        if device == "emulated":
            load = functools.cache(lambda name, device: kernels.load(SOURCE, device, **options).get_function(name))
            monkeypatch.setattr(step3_softmax, "_kernel", load)

    return choose


def options_for(device):
    """Every way in which the emulator can run a launch; a GPU has one."""
    if device == "cuda":
        return [{}]
    checked = [{"checked": True, "order": order, "seed": seed} for order, seed in ORDERS]
    return [{}, *checked]


# ----------------------------------------------------------------------------------------------------- the ladder


@pytest.mark.parametrize("columns", [1, 2, 31, 33, 257, 1000])
@pytest.mark.parametrize("name", ["softmax_naive", "softmax_warp", "softmax_block"])
def test_the_ladder_is_right_in_every_order(device, name, columns):
    rows = 11
    scores = normal(rows, columns) * 5
    scores[3] = -np.inf
    scores[4, : columns // 2] = -np.inf
    launch = {
        "softmax_naive": (1, 32, (rows, columns), 1),
        "softmax_warp": (3, (32, 4), (rows, columns), 32),
        "softmax_block": (rows, 96, (columns,), 96),
    }
    grid, block, sizes, threads = launch[name]
    results = []
    for options in options_for(device):
        x, weights = to_device(scores, device), to_device(np.zeros_like(scores), device)
        kernels.load(SOURCE, device, **options).get_function(name)(grid, block, (x, weights, *sizes))
        results.append(to_device(weights, "cpu"))
        chain = columns if name == "softmax_naive" else 4 * (columns / threads + 10)
        assert weights_error(results[-1], scores, chain) <= 1
        assert (results[-1][3] == 0).all()
    assert all(r.tobytes() == results[1].tobytes() for r in results[1:])


# --------------------------------------------------------------------------------------------- the engine's kernels

# Both sides of every border: a warp, packs of 4 and 8, 8 and 32 numbers a lane, registers, shared memory, re-reading
COLUMNS = [
    1,
    2,
    3,
    8,
    31,
    32,
    33,
    100,
    255,
    256,
    257,
    260,
    264,
    1000,
    1023,
    1024,
    1025,
    1032,
    4099,
    5000,
    12_289,
    25_000,
]


def masks_for(kind, rows, columns):
    """bias and keep, with a row that may attend to nothing."""
    bias = normal(3, 1, columns, seed=5) if kind in ("bias", "both") else None
    keep = None
    if kind in ("keep", "both"):
        keep = np.random.default_rng(6).random((rows, columns)) > 0.4
        keep[1] = False
    return bias, keep


@pytest.mark.parametrize("kind", ["none", "bias", "keep", "both"])
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
@pytest.mark.parametrize("columns", COLUMNS)
def test_fused_forward_and_gradient(device, run_with, columns, dtype, kind):
    rows = 5 if columns <= 1032 else 2
    scores = normal(3, rows, columns, dtype=dtype)
    bias, keep = masks_for(kind, rows, columns)
    upstream = normal(3, rows, columns, dtype=dtype, seed=2)
    factor = 0.7
    weights, grads = [], []
    quick = columns > 1032 and kind != "both"
    for options in options_for(device)[:2] if quick else options_for(device):
        run_with(**options)
        x = Tensor(scores, requires_grad=True, device=device)
        b = None if bias is None else Tensor(bias, requires_grad=True, device=device)
        out = fused_softmax(x, b, keep=None if keep is None else to_device(keep, device), factor=factor)
        assert (out.dtype, out.device) == (dtype, device)
        out.backward(to_device(upstream, device))
        weights.append(out.numpy())
        grads.append(to_device(x.grad, "cpu"))
        assert b is None or b.grad.shape == bias.shape
    assert weights_error(weights[0], scores, chain_of(columns), factor=factor, bias=bias, keep=keep) <= 1
    if keep is not None:
        assert (weights[0][..., ~keep] == 0).all()

    assert gradient_error(grads[0], weights[0], upstream, chain_of(columns), factor) <= 1
    for results in (weights, grads):  # the checked build in its orders; the fast build may fuse a product with a sum
        assert all(r.tobytes() == results[1].tobytes() for r in results[1:])


@pytest.mark.parametrize("columns", [7, 300, 2000, 26_000])
def test_infinities_and_nan(device, columns):
    scores = normal(6, columns)
    scores[0] = -np.inf
    scores[1, 3] = np.inf
    scores[2, 2] = np.nan
    scores[3, 1:] = -np.inf
    scores[4] *= 1e4
    scores[5] = np.finfo(np.float32).min
    weights = softmax(as_tensor(scores, device=device)).numpy()
    assert (weights[0] == 0).all()
    assert np.isnan(weights[1]).all()
    assert np.isnan(weights[2]).all()
    np.testing.assert_array_equal(weights[3], np.arange(columns) == 0)
    np.testing.assert_allclose(weights[4].sum(), 1, rtol=1e-5)
    np.testing.assert_allclose(weights[5], 1 / columns, rtol=1e-5)


def test_a_nan_under_a_boolean_mask_does_not_leak(device):
    scores = normal(4, 9)
    keep = np.ones((4, 9), bool)
    keep[:, 5] = False
    clean = fused_softmax(as_tensor(scores, device=device), None, keep=to_device(keep, device)).numpy()
    scores[:, 5] = np.nan
    np.testing.assert_array_equal(
        fused_softmax(as_tensor(scores, device=device), None, keep=to_device(keep, device)).numpy(), clean
    )


@pytest.mark.parametrize("columns", [9, 500, 3000, 26_000])
def test_very_low_scores_beside_masked_ones(device, columns):
    """Threads that hold masked columns alone have no peak of their own; they must not bring in exp(200)."""
    scores = normal(3, columns) - 200
    keep = np.zeros((3, columns), bool)
    keep[:, columns // 2 : columns // 2 + 3] = True
    weights = fused_softmax(as_tensor(scores, device=device), None, keep=to_device(keep, device)).numpy()
    assert weights_error(weights, scores, chain_of(columns), keep=keep) <= 1


@pytest.mark.parametrize(
    ("bias_shape", "keep_shape"),
    [((), (5, 1)), ((7,), (2, 1, 1, 7)), ((3, 1, 1), (5, 7)), ((2, 3, 5, 7), (1, 1, 1, 1))],
)
def test_masks_broadcast_as_in_numpy(device, bias_shape, keep_shape):
    scores, bias = normal(2, 3, 5, 7), normal(*bias_shape, seed=1)
    keep = np.random.default_rng(4).random(keep_shape) > 0.3
    got = fused_softmax(as_tensor(scores, device=device), to_device(bias, device), keep=to_device(keep, device))
    expected, _ = fused_softmax.forward(scores.astype(np.float64), bias.astype(np.float64), keep=keep)
    np.testing.assert_allclose(got.numpy(), expected, rtol=3e-6, atol=1e-12)


@pytest.mark.parametrize("offset", [1, 2, 3])
@pytest.mark.parametrize(
    ("dtype", "columns"), [(np.float32, 64), (np.float32, 1028), (np.float16, 64), (np.float16, 2048)]
)
def test_a_misaligned_array_is_read_number_by_number(device, dtype, columns, offset):
    """A view that does not begin at a multiple of 16 bytes cannot be read in packs of 16 bytes."""
    memory = normal(offset + 3 * columns, dtype=dtype)
    scores = to_device(memory, device)[offset:].reshape(3, columns)
    weights = softmax(as_tensor(scores, device=device)).numpy()
    assert weights_error(weights, memory[offset:].reshape(3, columns), chain_of(columns)) <= 1


def test_more_rows_than_a_grid_has_in_y(device):
    scores = normal(70_001, 3)
    assert weights_error(softmax(as_tensor(scores, device=device)).numpy(), scores, chain_of(3)) <= 1
    x, weights = to_device(scores, device), to_device(np.zeros_like(scores), device)
    reread = kernels.load(SOURCE, device).get_function("fused_reread_float32")
    reread(70_001, 32, (x, weights, 3, 1.0, None, None, None))
    assert weights_error(to_device(weights, "cpu"), scores, chain_of(3)) <= 1


def test_other_axes_dtypes_and_empty_arrays_fall_back(device):
    scores = normal(4, 5, 6)
    by_row = softmax(as_tensor(scores, device=device), axis=1).numpy()
    np.testing.assert_allclose(by_row.sum(1), 1, rtol=1e-6)
    wide = softmax(as_tensor(scores.astype(np.float64), device=device)).numpy()
    assert wide.dtype == np.float64
    np.testing.assert_allclose(wide, exact_weights(scores)[0], rtol=1e-13)
    for shape in ((0, 5), (3, 0)):
        assert softmax(as_tensor(np.zeros(shape, np.float32), device=device)).shape == shape


# ------------------------------------------------------------------------------------------------- the memory traffic


@pytest.mark.usefixtures("emulated")
@pytest.mark.parametrize(
    ("name", "block", "rows_a_block", "reads", "shared_mem"),
    [
        ("fused_registers_float32", (32, 4), 4, 1, 0),
        ("fused_shared_float32", 128, 1, 1, 4 * 1024),
        ("fused_reread_float32", 128, 1, 2, 0),
    ],
)
def test_each_number_is_read_as_often_as_promised(name, block, rows_a_block, reads, shared_mem):
    rows, columns = 8, 1024
    scores, weights = normal(rows, columns), np.zeros((rows, columns), np.float32)
    sizes = (rows, columns) if rows_a_block > 1 else (columns,)
    kernel = kernels.load(SOURCE, "emulated", checked=True).get_function(name)
    counts = kernel(
        rows // rows_a_block, block, (scores, weights, *sizes, 1.0, None, None, None), shared_mem=shared_mem
    )
    assert counts.complete
    assert counts.moved(write=False) == counts.asked(write=False) == reads * scores.nbytes
    assert counts.moved(write=True) == counts.asked(write=True) == scores.nbytes
    packs = [t for t in counts.lines if t.space == "global" and t.write]
    assert sum(t.requests for t in packs) == rows * columns / (32 * 4)  # a warp stores 32 packs of four at once
    assert counts.conflicts == 0


def test_the_number_of_launches(device, monkeypatch):
    """Scale, mask and softmax together are one launch, and so is their gradient."""
    launches = []
    original = kernels.Kernel.__call__

    def counted(self, *args, **options):
        launches.append(self.signature.name)
        return original(self, *args, **options)

    monkeypatch.setattr(kernels.Kernel, "__call__", counted)
    scores = Tensor(normal(3, 10), requires_grad=True, device=device)
    keep = to_device(np.tri(3, 10, dtype=bool), device)
    fused_softmax(scores, None, keep=keep, factor=1 / math.sqrt(5)).backward(to_device(normal(3, 10), device))
    assert launches == ["fused_registers_float32", "gradient_registers_float32"]
