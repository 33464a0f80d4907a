"""Reports about CuPy, CUDA and the environment that a machine without a GPU can hold, as tests named after their id.

`cupy` is a stand-in (stand_in_cupy.py) with CuPy's manners, no silent conversion and no mixing with NumPy, and the
real one too where a GPU works. Kernels are tested in tests/kernels, on the emulator.
"""

import subprocess
import sys
import textwrap

import numpy as np
import pytest
import stand_in_cupy
from test_ops import EVERY_ROW, backward, draw

import tinyattn
from tinyattn import Tensor, as_tensor, attention, gradcheck, ops
from tinyattn.backend import import_cupy, namespace, to_device


def gpu_works():
    try:
        return import_cupy() is not None
    except RuntimeError:
        return False


@pytest.fixture(params=["stand-in", "real"] if gpu_works() else ["stand-in"])
def cupy(request, monkeypatch):
    return stand_in_cupy.install(monkeypatch) if request.param == "stand-in" else import_cupy()


def run(code, **environment):
    """What a fresh interpreter prints for the code, with warnings as errors."""
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=120,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": ":".join(filter(None, sys.path)), **environment},
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    return result.stdout


@EVERY_ROW
def test_GPU_14_no_op_leaves_the_arrays_library(row, cupy):
    """Values and gradients of every op stay CuPy arrays, of the input's dtype, and equal NumPy's."""
    if row.function is attention.tiled.tiled_attention:
        pytest.skip("the tiled method has its own kernel for CuPy arrays, tested in tests/kernels")
    arrays = draw(row)
    expected, expected_gradients = backward(row, arrays)
    leaves = [Tensor(x, requires_grad=True, device="cuda") for x in arrays]
    output = row.call(*leaves)
    assert isinstance(output.data, cupy.ndarray)
    assert output.device == "cuda"
    np.testing.assert_allclose(output.numpy(), expected.data, rtol=1e-12, atol=1e-14)
    if not output.requires_grad:
        return
    output.backward(Tensor(np.random.default_rng(8).normal(size=output.shape), device="cuda"))
    for leaf, gradient in zip(leaves, expected_gradients, strict=True):
        assert isinstance(leaf.grad, cupy.ndarray)
        assert leaf.grad.dtype == leaf.dtype
        np.testing.assert_allclose(leaf.grad.get(), gradient, rtol=1e-12, atol=1e-14)


SETTINGS = {
    "plain": {},
    "causal": {"is_causal": True, "align": "lower-right"},
    "window": {"window": (1, 0)},
    "dropout": {"dropout_p": 0.4, "rng": 3},
    "grouped": {"enable_gqa": True},
    "boolean": {"attn_mask": np.random.default_rng(0).random((4, 5)) < 0.6},
    "additive": {"attn_mask": np.random.default_rng(0).normal(size=(4, 5))},
}


@pytest.mark.parametrize("name", SETTINGS)
def test_GPU_14_attention_stays_there_with_every_setting(cupy, rng, name):
    options, heads = SETTINGS[name], 1 if name == "grouped" else 2
    arrays = [rng.normal(size=shape) for shape in ((2, 4, 3), (heads, 5, 3), (heads, 5, 6))]
    results = []
    for device in ("cpu", "cuda"):
        leaves = [Tensor(x, requires_grad=True, device=device) for x in arrays]
        output = tinyattn.scaled_dot_product_attention(*leaves, **options)
        output.backward(Tensor(np.ones(output.shape), device=device))
        steps = tinyattn.attention_steps(*leaves, **options)
        assert {step.device for step in steps} == {device}
        results.append([output.data, steps.output.data, *(leaf.grad for leaf in leaves)])
    for on_cpu, on_gpu in zip(*results, strict=True):
        assert isinstance(on_gpu, cupy.ndarray)
        np.testing.assert_allclose(on_gpu.get(), on_cpu, rtol=1e-10, atol=1e-13)


def test_GPU_08_reductions_give_arrays_of_shape_zero(cupy):
    for device in ("cpu", "cuda"):
        t = Tensor([1.0, 2], requires_grad=True, device=device)
        library = type(t.data)
        for result in (
            t.sum(),
            t.mean(),
            t.max(),
            t.argmax(),
            t[0],
            ops.logsumexp(t),
            (t * t).sum() + 1,
            t @ t,
            -t.sum(),
        ):
            assert type(result.data) is library
            assert result.shape == ()
            assert isinstance(result.item(), float | int)
            assert float(result) == result.item()
        (t * t).sum().backward()
        (t * t).sum().backward()
        assert type(t.grad) is library
        zero_d = Tensor(2.0, requires_grad=True, device=device)
        for _ in range(2):
            (zero_d * zero_d + zero_d).backward()
        assert type(zero_d.grad) is library
        assert zero_d.grad.shape == ()
        assert zero_d.grad.item() == 10


def test_GPU_10_repeated_rows_add_up(cupy):
    for device in ("cpu", "cuda"):
        table = Tensor(np.zeros((3, 2)), requires_grad=True, device=device)
        ops.take(table, np.array([0, 0, 1])).sum().backward()
        assert table.grad.tolist() == [[2, 2], [1, 1], [0, 0]]
        table.zero_grad()
        table[Tensor([2, 2, 2], device=device), Tensor([0, 0, 1], device=device)].sum().backward()
        assert table.grad.tolist() == [[0, 0], [0, 0], [2, 1]]


def test_GPU_12_arrays_on_the_left_leave_the_operation_to_the_tensor(cupy):
    ones = cupy.ones(2)
    for left in (ones, cupy.asarray(np.float64(1))):
        for function, slope in (
            (lambda a, t: a * t, 1), (lambda a, t: a + t, 1), (lambda a, t: a - t, -1), (lambda a, t: a / t, -1 / 4),
        ):  # fmt: skip
            t = Tensor([2.0, 2], requires_grad=True, device="cuda")
            result = function(left, t)
            assert isinstance(result, Tensor)
            result.sum().backward()
            assert t.grad.tolist() == [slope, slope]
    t = Tensor([2.0, 3], requires_grad=True, device="cuda")
    (ones @ t).backward()
    assert t.grad.tolist() == [1, 1]


def test_GPU_14_mixing_libraries_raises_a_clear_error(cupy):
    on_gpu, on_cpu = Tensor([1.0, 2], device="cuda"), Tensor([1.0, 2])
    with pytest.raises(ValueError, match="multiply needs all tensors on one device, got 'cuda' and 'cpu': move one"):
        on_gpu * on_cpu
    calls = [
        lambda: ops.exp(on_gpu) * np.ones(2),
        lambda: np.ones(2) * on_gpu,
        lambda: on_cpu * cupy.ones(2),
        lambda: ops.maximum(on_cpu, cupy.ones(2)),
        lambda: ops.where(np.ones(2) > 0, on_gpu, 0.0),
        lambda: on_gpu @ np.ones(2),
        lambda: tinyattn.mask(Tensor(np.ones((1, 2)), device="cuda"), np.ones(2, bool)),
        lambda: namespace(np.ones(1), cupy.ones(1)),
    ]
    for call in calls:
        with pytest.raises(TypeError, match=r"NumPy and CuPy arrays together: move one with \.to\(device\)"):
            call()
    with pytest.raises(TypeError, match=r"on the GPU: use tensor\.numpy\(\)"):
        np.asarray(on_gpu)
    assert isinstance(on_gpu.numpy(), np.ndarray)
    assert isinstance(to_device(cupy.ones(2), "cpu"), np.ndarray)


def test_GPU_14_moving_there_and_back_keeps_gradients(cupy):
    x = Tensor([1.0, 2], requires_grad=True)
    (x.to("cuda") * 3).to("cpu").sum().backward()
    assert isinstance(x.grad, np.ndarray)
    assert x.grad.tolist() == [3, 3]
    assert Tensor(cupy.ones(2)).device == as_tensor(cupy.ones(2)).device == "cuda"
    assert "device='cuda'" in repr(x.to("cuda"))


def test_GPU_13_importing_needs_neither_cupy_nor_a_home_folder(tmp_path):
    folder = tmp_path / "häuser und gärten"
    folder.mkdir()
    code = """
        import sys, tinyattn
        assert "cupy" not in sys.modules
        t = tinyattn.Tensor([1.0, 2.0], requires_grad=True)
        tinyattn.softmax(t).sum().backward()
        print(t.grad.tolist())
    """
    for environment in ({"HOME": "/nonexistent"}, {"HOME": str(folder), "CUPY_CACHE_DIR": str(folder)}):
        assert run(code, **environment) == "[0.0, 0.0]\n"


def test_GPU_13_a_broken_cupy_costs_one_sentence(tmp_path):
    (tmp_path / "cupy.py").write_text("raise OSError('libcuda.so.1: cannot open shared object file')")
    code = f"""
        import sys
        sys.path.insert(0, {str(tmp_path)!r})
        import tinyattn
        try:
            tinyattn.Tensor([1.0], device="cuda")
        except RuntimeError as error:
            print(error)
    """
    printed = run(code)
    assert printed.startswith("device 'cuda' needs CuPy, which does not import here (OSError)")
    assert printed.count("\n") == 1


def test_ENV_01_plots_need_no_display_and_importing_chooses_no_backend(tmp_path):
    code = f"""
        import sys, tinyattn
        assert "matplotlib" not in sys.modules
        from tinyattn import plot
        import matplotlib
        before = dict.__getitem__(matplotlib.rcParams, "backend")  # rcParams["backend"] itself would choose one
        assert "matplotlib.pyplot" not in sys.modules
        import numpy as np
        weights = tinyattn.softmax(np.random.default_rng(0).normal(size=(5, 7)))
        figure, ax = plot.axes()
        plot.heatmap(ax, weights.numpy())
        figure.savefig({str(tmp_path / "weights.png")!r})
        assert "matplotlib.pyplot" not in sys.modules
        assert dict.__getitem__(matplotlib.rcParams, "backend") is before
    """
    run(code, HOME=str(tmp_path), MPLCONFIGDIR=str(tmp_path))
    assert (tmp_path / "weights.png").read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("dtype", ["uint8", "int16", "uint16", "int32", "int64"])
def test_ENV_02_small_integers_do_not_wrap_in_offsets(dtype):
    """The last row of a table whose size no 32-bit number holds; the table is one row, repeated without memory."""
    last = min(np.iinfo(dtype).max, 65_535)
    table = as_tensor(np.broadcast_to(np.arange(65_536, dtype=np.float32), (65_536, 65_536)))
    row = ops.take(table, np.array([last], dtype))
    assert (row.shape, row.data[0, -1]) == ((1, 65_536), 65_535)
    small = Tensor(np.zeros((last + 1, 2), np.float32), requires_grad=True)
    ops.take(small, np.array([last, last, 0], dtype)).sum().backward()
    assert small.grad[last].tolist() == [2, 2]
    assert small.grad.sum() == 6


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_ENV_04_gradcheck_is_exact_for_low_precision_inputs_and_refuses_integers(dtype, rng):
    arrays = [rng.normal(size=shape).astype(dtype) for shape in ((3, 4), (5, 4), (5, 2))]
    assert gradcheck(tinyattn.scaled_dot_product_attention, *arrays)
    assert gradcheck(lambda x: x**3, np.array([100.0, 1000], dtype))
    with pytest.raises(TypeError, match="floating-point inputs, got input 0 of dtype int64"):
        gradcheck(lambda x: x * x, np.array([1, 2]))
