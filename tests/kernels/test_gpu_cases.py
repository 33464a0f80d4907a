"""Public bug reports about CuPy and CUDA, GPU-01 to GPU-14, on the emulator and, where there is one, on a GPU.

GPU-03 and the launcher's side of GPU-01, GPU-02 and GPU-13 are in test_launcher.py.
"""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tinyattn
from tinyattn import Tensor, as_tensor, kernels, ops, scaled_dot_product_attention, softmax
from tinyattn.backend import to_device


def normal(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


def library(device):
    """The array library of the device."""
    return sys.modules["cupy"] if device == "cuda" else np


def cuda_only(device, no_gpu, what):
    if device != "cuda":
        pytest.skip(f"{what} needs a GPU: {no_gpu}")


def test_GPU_01_transposed_and_sliced_inputs(device):
    query = to_device(normal(2, 9, 3, 8), device).transpose(0, 2, 1, 3)
    key, value = to_device(normal(2, 3, 7, 8, seed=1), device)[..., :4], to_device(normal(2, 3, 14, 5, seed=2), device)
    query, value = query[..., ::2], value[:, :, ::2]
    scores = query @ key.swapaxes(-1, -2)
    packed = [x.copy(order="C") for x in (query, key, value, scores)]
    for function in (
        lambda q, k, v, s: scaled_dot_product_attention(as_tensor(q, device=device), k, v),
        lambda q, k, v, s: softmax(as_tensor(s.swapaxes(-1, -2), device=device)),
    ):
        got = function(query, key, value, scores)
        assert got.device == device
        np.testing.assert_array_equal(got.numpy(), function(*packed).numpy())


def test_GPU_02_a_broadcast_mask_and_upstream_gradient(device):
    xp, n = library(device), 9
    row = to_device(np.random.default_rng(3).random(n) > 0.3, device)
    mask, upstream = xp.broadcast_to(row, (n, n)), xp.broadcast_to(to_device(normal(1), device), (4, n, 6))
    results = []
    for m, g in ((mask, upstream), (mask.copy(), upstream.copy())):
        leaves = [Tensor(normal(4, n, 6, seed=s), requires_grad=True, device=device) for s in range(3)]
        output = scaled_dot_product_attention(*leaves, attn_mask=m)
        output.backward(g)
        results.append([output.numpy()] + [to_device(leaf.grad, "cpu") for leaf in leaves])
    for broadcast, packed in zip(*results, strict=True):
        np.testing.assert_array_equal(broadcast, packed)
    scores = normal(4, n, 6)
    vjp = softmax.forward(scores)[1]
    x = Tensor(scores, requires_grad=True, device=device)
    softmax(x).backward(upstream)
    np.testing.assert_allclose(to_device(x.grad, "cpu"), vjp(to_device(upstream, "cpu"))[0], atol=1e-6)


@pytest.mark.parametrize("dtypes", [(np.float32, np.float64), (np.float16, np.float16), (np.float64, np.float32)])
def test_GPU_04_every_dtype_and_their_mixture(device, dtypes):
    query, key, value = (normal(2, 5, 4, dtype=d, seed=s) for s, d in enumerate((*dtypes, dtypes[1])))
    expected = scaled_dot_product_attention(query, key, value)
    got = scaled_dot_product_attention(*(as_tensor(x, device=device) for x in (query, key, value)))
    assert got.dtype == expected.dtype
    tolerance = 4 * float(np.finfo(np.result_type(query, key) if np.float16 in dtypes else np.float32).eps)
    np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=tolerance, atol=tolerance)
    assert (got.numpy() != 0).all()


def test_GPU_06_more_than_2_to_the_31_elements(device, no_gpu):
    cuda_only(device, no_gpu, "an array of 4.3 GB and its softmax")
    cupy = library(device)
    rows, columns = 65537, 32768
    if cupy.cuda.Device().mem_info[0] < 14e9:
        pytest.skip("14 GB of free GPU memory are needed")
    scores = cupy.zeros((rows, columns), cupy.float16)
    tail = normal(3, columns, dtype=np.float16)
    scores[-3:] = cupy.asarray(tail)
    weights = softmax(as_tensor(scores)).data
    np.testing.assert_allclose(weights[-3:].get(), softmax.forward(tail)[0], rtol=2e-3, atol=1e-7)
    np.testing.assert_allclose(weights[-1].astype(cupy.float32).sum().get(), 1, rtol=1e-2)


def test_GPU_06_row_offsets_are_64_bit():
    """What the test above needs 14 GB for can be read off the source: a row's number is made 64 bits wide first."""
    source = Path(tinyattn.__file__).parent.joinpath("attention", "step3_softmax.cu").read_text()
    offsets = [line for line in source.splitlines() if "* columns" in line and "columns % " not in line]
    assert len(offsets) >= 8
    wide = ("row * columns", "(long long)blockIdx.x * columns", "(long long)mask_row[row] * columns")
    assert all(any(form in line for form in wide) for line in offsets), offsets
    assert source.count("long long row = ") == source.count("long long row = (long long)blockIdx") + source.count(
        "long long row = blockIdx.x;"
    )


def test_GPU_07_kernels_follow_the_current_stream(device, no_gpu):
    cuda_only(device, no_gpu, "a stream")
    cupy = library(device)
    scores = cupy.asarray(normal(2000, 3000))
    expected = softmax(as_tensor(scores * 2 + 1)).data * 3
    with cupy.cuda.Stream(non_blocking=True) as stream:
        got = softmax(as_tensor(scores * 2 + 1)).data * 3
        stream.synchronize()
    cupy.testing.assert_array_equal(got, expected)


def test_GPU_08_a_reduction_gives_an_array_and_item_a_number(device):
    total = as_tensor(normal(3, 4), device=device).sum()
    assert (total.shape, type(total.data)) == ((), library(device).ndarray)
    assert type(total.item()) is float
    assert float(total) == total.item()


def test_GPU_10_repeated_indices_add_up(device):
    table = Tensor(normal(4, 3), requires_grad=True, device=device)
    ids = to_device(np.array([0, 0, 1]), device)
    ops.take(table, ids).backward(to_device(np.ones((3, 3), np.float32), device))
    np.testing.assert_array_equal(to_device(table.grad, "cpu"), [[2] * 3, [1] * 3, [0] * 3, [0] * 3])


def test_GPU_12_an_array_on_the_left(device):
    ones = library(device).ones(2, np.float32)
    t = Tensor([3.0, 4.0], requires_grad=True, dtype=np.float32, device=device)
    for result, slope in ((ones * t, 1), (ones[0] * t, 1), (ones - t, -1), (ones @ t, 1)):
        assert isinstance(result, Tensor)
        assert result.device == device
        t.zero_grad()
        result.backward(library(device).ones(result.shape, np.float32))
        np.testing.assert_array_equal(to_device(t.grad, "cpu"), [slope] * 2)


def test_GPU_13_a_cache_folder_of_any_name(device, tmp_path):
    folder = tmp_path / "Ö rdner mit Leerzeichen"
    folder.mkdir()
    variable = "XDG_CACHE_HOME" if device == "emulated" else "CUPY_CACHE_DIR"
    code = (
        "from tinyattn import as_tensor, softmax; "
        f"print(softmax(as_tensor([[0.0, 0.0]], dtype='float32', device={device!r})).tolist())"
    )
    package = str(Path(kernels.__file__).parents[1])
    environment = {**os.environ, "PYTHONPATH": package, variable: str(folder)}
    said = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=120)
    assert said.stdout == "[[0.5, 0.5]]\n", said.stderr
    assert any(folder.iterdir())


def test_GPU_14_arrays_of_two_libraries_do_not_mix(device, no_gpu):
    on_device, on_cpu = as_tensor(normal(2, 3), device=device), as_tensor(normal(2, 3))
    with pytest.raises((ValueError, TypeError), match=r"one device|one place"):
        _ = on_device + on_cpu
    cuda_only(device, no_gpu, "a CuPy array")
    with pytest.raises(TypeError, match=r"\.numpy\(\)"):
        np.asarray(on_device)
    with pytest.raises(TypeError, match="NumPy and CuPy"):
        _ = on_device + normal(2, 3)
