"""The launcher: every argument is held against the kernel's declaration; a wrong one costs one sentence."""

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from tinyattn import emulator, kernels
from tinyattn.backend import to_device
from tinyattn.emulator import KernelError

SOURCE = """
typedef unsigned short half;
using index = long long;

// x (n) -> y (n): y = factor * x   /* extern "C" __global__ void not_a_kernel(int); */
extern "C" __global__ void __launch_bounds__(256) scaled(const float* __restrict__ x, float* y, int n, float factor)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = factor * x[i];
}

__global__ void bits_of(const half* x, half *y, index n, unsigned long long shift)
{
    index i = blockIdx.x * (index)blockDim.x + threadIdx.x;
    if (i < n) y[i] = x[i] + (half)shift;
}

extern "C" __global__ void packs(const float4* x, bool* positive) { positive[threadIdx.x] = x[threadIdx.x].w > 0; }

extern "C" __global__ void swap_ends(float a[], float* const __restrict__ b) { float t = a[0]; a[0] = b[0]; b[0] = t; }

extern "C" __global__ void null_or_first(const float* x, float* y) { y[0] = x ? x[0] : -1; }

struct Pair { int a, b; };
extern "C" __global__ void by_value(Pair pair, float* y) { y[0] = pair.a; }

template <class T> __global__ void for_any_type(T* x) { x[0] = 0; }
"""


def numbers(*shape):
    return np.random.default_rng(3).normal(size=shape).astype(np.float32)


def run(device, name, grid, block, arguments, **options):
    """The arguments as NumPy arrays after a launch on the device."""
    moved = [to_device(a, device) if isinstance(a, np.ndarray) else a for a in arguments]
    kernels.load(SOURCE, device).get_function(name)(grid, block, moved, **options)
    return [to_device(a, "cpu") if hasattr(a, "dtype") and a.ndim else a for a in moved]


def test_signatures_are_read_from_the_source():
    found = kernels.signatures(SOURCE)
    assert list(found) == ["scaled", "bits_of", "packs", "swap_ends", "null_or_first", "by_value"]
    described = [(p.name, p.dtype, p.pointer, p.const) for p in found["scaled"].parameters]
    f32, i32 = np.dtype(np.float32), np.dtype(np.int32)
    assert described == [
        ("x", f32, True, True),
        ("y", f32, True, False),
        ("n", i32, False, True),
        ("factor", f32, False, True),
    ]
    assert found["scaled"].most_threads == 256
    assert [p.dtype for p in found["bits_of"].parameters] == [np.float16, np.float16, np.int64, np.uint64]
    assert found["packs"].parameters[0].align == 16
    assert [(p.name, p.dtype, p.pointer, p.const) for p in found["swap_ends"].parameters] == [
        ("a", f32, True, False),
        ("b", f32, True, False),
    ]


@pytest.mark.parametrize("factor", [0.125, np.float32(0.125), np.float64(0.125), np.float16(0.125)])
def test_GPU_03_a_number_of_any_float_type_arrives_right(device, factor):
    x = numbers(100)
    _, y, *_ = run(device, "scaled", 2, 64, (x, np.zeros_like(x), 100, factor))
    np.testing.assert_array_equal(y, x / 8)


@pytest.mark.parametrize("n", [np.int64(100), np.uint8(100), 100])
def test_an_integer_of_any_type_arrives_right(device, n):
    x = numbers(120)
    _, y, *_ = run(device, "scaled", (1,), (128, 1, 1), (x, np.zeros_like(x), n, 2))
    np.testing.assert_array_equal(y, np.where(np.arange(120) < 100, 2 * x, 0))


def test_GPU_01_strided_arrays_are_packed_and_brought_back(device):
    x, y = numbers(10, 12), np.zeros((12, 20), np.float32)
    x_moved, y_moved = to_device(x, device), to_device(y, device)
    kernels.load(SOURCE, device).get_function("scaled")(1, 128, (x_moved.T, y_moved[:, ::2], 120, 3.0))
    np.testing.assert_array_equal(to_device(y_moved, "cpu")[:, ::2], 3 * x.T)
    np.testing.assert_array_equal(to_device(y_moved, "cpu")[:, 1::2], 0)


def test_GPU_02_a_broadcast_array_is_read_in_full_and_cannot_be_written(device):
    row = to_device(numbers(6), device)
    table, y = row[None].repeat(1, 0), to_device(np.zeros((4, 6), np.float32), device)
    wide = np.broadcast_to(row, (4, 6)) if device == "emulated" else sys.modules["cupy"].broadcast_to(row, (4, 6))
    scaled = kernels.load(SOURCE, device).get_function("scaled")
    scaled(1, 32, (wide, y, 24, 1.0))
    np.testing.assert_array_equal(to_device(y, "cpu"), np.tile(to_device(table, "cpu"), (4, 1)))
    with pytest.raises(ValueError, match=r"that it writes, got a (read-only|broadcast) one of shape \(4, 6\)"):
        scaled(1, 32, (y, wide, 24, 1.0))


def test_one_array_given_twice_is_one_array(device):
    x = numbers(50)
    a = to_device(x.copy(), device)
    kernels.load(SOURCE, device).get_function("scaled")(1, 64, (a, a, 50, 2.0))
    np.testing.assert_array_equal(to_device(a, "cpu"), 2 * x)
    kernels.load(SOURCE, device).get_function("swap_ends")(1, 1, (a[3:40], a[20:]))  # overlapping views
    expected = 2 * x
    expected[[3, 20]] = expected[[20, 3]]
    np.testing.assert_array_equal(to_device(a, "cpu"), expected)


def test_float16_arrays_go_where_the_source_says_half(device):
    bits = np.arange(70, dtype=np.uint16)
    _, y, *_ = run(device, "bits_of", 1, 128, (bits.view(np.float16), np.zeros(70, np.float16), 70, 2**40 + 1))
    np.testing.assert_array_equal(y.view(np.uint16), bits + 1)


def test_none_is_a_null_pointer(device):
    assert run(device, "null_or_first", 1, 1, (None, np.zeros(1, np.float32)))[1][0] == -1
    assert run(device, "null_or_first", 1, 1, (np.ones(1, np.float32), np.zeros(1, np.float32)))[1][0] == 1


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"x": np.zeros(8)}, TypeError, r"`const float\* __restrict__ x` of kernel scaled .* float32, got float64"),
        ({"x": np.zeros(8, np.float16)}, TypeError, "float32, got float16"),
        ({"x": np.zeros(8, ">f4")}, TypeError, "float32, got >f4"),
        ({"x": 3.0}, TypeError, "array of float32, got builtins float"),
        ({"x": [1.0, 2.0]}, TypeError, "array of float32, got builtins list"),
        ({"y": np.broadcast_to(np.float32(0), 8)}, ValueError, "read-only"),
        ({"n": 8.0}, TypeError, r"`int n` of kernel scaled takes a number that fits int32, got 8\.0"),
        ({"n": 2**31}, ValueError, "fits int32, got 2147483648"),
        ({"n": np.zeros(1, np.int32)}, TypeError, "got ndarray"),
        ({"n": "8"}, TypeError, "got str"),
        ({"factor": 1e39}, ValueError, r"fits float32, got 1e\+39"),
        ({"factor": 1j}, TypeError, "got complex"),
        ({"block": 257}, ValueError, r"at most 256 threads in a block, got \(257, 1, 1\)"),
        ({"block": (32, 64)}, ValueError, "at most 256 threads in a block.* 2048"),
        ({"block": 0}, ValueError, "block must lie between"),
        ({"block": (1, 1, 65)}, ValueError, "block must lie between"),
        ({"block": 1.5}, TypeError, "block must be one to three integers, got 1.5"),
        ({"grid": (1, 65536)}, ValueError, r"grid must lie between .* got \(1, 65536, 1\)"),
        ({"grid": ()}, TypeError, "grid must be one to three integers"),
        ({"shared_mem": 300_000}, ValueError, "shared_mem must lie between 0 and 232448"),
        ({"shared_mem": 1.5}, TypeError, "shared_mem must be an integer"),
    ],
)
def test_a_wrong_argument_costs_one_sentence(device, change, error, words):
    given = {"grid": 1, "block": 32, "x": numbers(8), "y": numbers(8), "n": 8, "factor": 2.0, "shared_mem": 0} | change
    arguments = [
        to_device(a, device) if isinstance(a, np.ndarray) and a.dtype.isnative and a.flags.writeable else a
        for a in (given["x"], given["y"], given["n"], given["factor"])
    ]
    scaled = kernels.load(SOURCE, device).get_function("scaled")
    with pytest.raises(error, match=words if device == "emulated" else None) as caught:
        scaled(given["grid"], given["block"], arguments, shared_mem=given["shared_mem"])
    assert "\n" not in str(caught.value)


def test_too_many_threads_for_the_registers_cost_one_sentence(monkeypatch):
    """A stand-in for CuPy's kernel: 222 registers a thread leave room for 256 threads."""
    function = SimpleNamespace(max_threads_per_block=256, num_regs=222, max_dynamic_shared_size_bytes=48 * 1024)
    launched = []
    raw = type("Raw", (), {"__call__": lambda self, *args, **options: launched.append((args, options))})()
    raw.__dict__.update(function.__dict__)
    monkeypatch.setattr(kernels, "_compiled", lambda source, file: SimpleNamespace(get_function=lambda name: raw))
    module = kernels.load(SOURCE, "cuda")
    signature = kernels.signatures(SOURCE)["scaled"]
    with pytest.raises(ValueError, match=r"uses 222 registers a thread.* at most 256 threads in a block, got .* 512"):
        module.run(signature, (1, 1, 1), (512, 1, 1), (), 0)
    assert not launched
    module.run(signature, (1, 1, 1), (256, 1, 1), (None, np.int32(3)), 60_000)
    ((grid, block, arguments), options) = launched[0]
    assert (grid, block, options) == ((1, 1, 1), (256, 1, 1), {"shared_mem": 60_000})
    assert (arguments[0], type(arguments[0])) == (0, np.uintp)  # a null pointer
    assert raw.max_dynamic_shared_size_bytes == 60_000


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        (
            lambda d: kernels.load(SOURCE, d).get_function("nothing"),
            ValueError,
            "no kernel 'nothing'; .* scaled, bits_of",
        ),
        (lambda d: kernels.load(SOURCE, d).get_function("for_any_type"), ValueError, "no kernel 'for_any_type'"),
        (
            lambda d: run(d, "by_value", 1, 1, (1, numbers(1))),
            TypeError,
            "`Pair pair` .* a type that Python cannot pass",
        ),
        (lambda d: run(d, "scaled", 1, 32, (numbers(3), numbers(3), 3)), TypeError, r"takes 4 arguments .* got 3"),
        (lambda d: run(d, "packs", 1, 2, (numbers(9)[1:], np.zeros(2, bool))), ValueError, "a multiple of 16 bytes"),
        (lambda d: kernels.load("missing.cu", d), FileNotFoundError, "missing.cu"),
        (lambda d: kernels.load(17, d), TypeError, "path or the text"),
        (lambda d: kernels.load(SOURCE, "cpu"), ValueError, "'cuda' or 'emulated', got 'cpu'"),
        (lambda d: kernels.load(SOURCE, d, order="sideways"), ValueError, "order must be"),
    ],
)
def test_a_wrong_call_costs_one_sentence(device, call, error, words):
    with pytest.raises(error, match=words):
        call(device)


def test_a_compile_error_names_the_line(device):
    source = SOURCE.replace("factor * x[i]", "facto * x[i]")
    line = 1 + source[: source.index("facto *")].count("\n")
    with pytest.raises(KernelError) as caught:
        kernels.load(source, device).get_function("scaled")(1, 1, [to_device(numbers(1), device)] * 2 + [1, 1.0])
    assert caught.value.kind == "compile error"
    assert f"{line}" in str(caught.value)
    assert "facto" in caught.value.detail


def test_a_path_and_its_text_are_the_same(device, tmp_path):
    folder = tmp_path / "Ärger mit Leerzeichen"
    folder.mkdir()
    file = folder / "größe.cu"
    file.write_text(SOURCE, encoding="utf-8")
    for source in (file, str(file)):
        a = to_device(numbers(5), device)
        kernels.load(source, device).get_function("scaled")(1, 32, (a, a, 5, 2.0))
        np.testing.assert_array_equal(to_device(a, "cpu"), 2 * numbers(5))


# --------------------------------------------------------------------------- the emulator as a guest on a machine


def python(code, **environment):
    result = subprocess.run(
        [sys.executable, "-c", code],
        env={
            **os.environ,
            "PYTHONPATH": os.pathsep.join(map(str, (Path(kernels.__file__).parents[1],))),
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


DOUBLE = """
import numpy as np
from tinyattn import kernels
x = np.arange(5, dtype=np.float32)
source = 'extern "C" __global__ void twice(float* x) { x[threadIdx.x] *= 2; } // ' + TAG
kernels.load(source, "emulated").get_function("twice")(1, 5, (x,))
print(x.tolist())
"""


def test_no_compiler_costs_one_sentence(tmp_path):
    code = """
from tinyattn import emulator, kernels
print(emulator.available()[0])
try:
    import numpy as np
    kernels.load('extern "C" __global__ void f(float* x) {}', "emulated").get_function("f")(1, 1, (np.zeros(1, "f4"),))
except emulator.Unavailable as sentence:
    print(sentence)
"""
    said = python(code, PATH=str(tmp_path), CXX="no-such-compiler", XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert said.startswith("False\nThe CUDA emulator needs a C++ compiler and found none: install g++")
    assert said.count("\n") == 2


def test_a_home_that_cannot_be_written_is_no_trouble(emulated, tmp_path):
    (tmp_path / "file").write_text("")
    said = python("TAG = 'home'\n" + DOUBLE, XDG_CACHE_HOME=str(tmp_path / "file"), TMPDIR=str(tmp_path))
    assert said == "[0.0, 2.0, 4.0, 6.0, 8.0]\n"


def test_two_processes_may_build_the_same_kernel_at_once(emulated, tmp_path):
    command = [sys.executable, "-c", f"TAG = 'race {tmp_path.name}'\n{DOUBLE}"]
    environment = {**os.environ, "PYTHONPATH": str(Path(kernels.__file__).parents[1]), "XDG_CACHE_HOME": str(tmp_path)}
    both = [subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) for _ in range(2)]
    assert [process.communicate(timeout=120)[0] for process in both] == ["[0.0, 2.0, 4.0, 6.0, 8.0]\n"] * 2
    assert not list((tmp_path / "tinyattn").glob("tmp*"))  # nothing half-built is left behind


@pytest.mark.parametrize("checked", [False, True], ids=["fast", "checked"])
def test_a_wild_write_cannot_hurt_the_caller(emulated, checked):
    source = """
extern "C" __global__ void wild(float* x, unsigned long long where) { x[threadIdx.x] = 1; *(float*)where = 2; }
"""
    kept = np.full(1000, 7, np.float32)
    x = np.zeros(32, np.float32)
    wild = kernels.load(source, "emulated", checked=checked).get_function("wild")
    for address in (kept.ctypes.data, id(kept), 0, 8):
        with pytest.raises(KernelError, match=r"out of bounds: kernel wild, kernel\.cu line 2, block \(0, 0, 0\)"):
            wild(1, 32, (x, address))
    assert (kept == 7).all()
    assert (x == 0).all()


def test_what_a_kernel_prints_is_shown(emulated, capsys):
    source = """
extern "C" __global__ void greet(int n) { if (threadIdx.x == 3) printf("thread %d of %d\\n", threadIdx.x, n); }
"""
    kernels.load(source, "emulated").get_function("greet")(1, 32, (32,))
    assert capsys.readouterr().out == "thread 3 of 32\n"


def test_the_portable_fibers_agree(emulated, tmp_path):
    """Where the hand-written switch does not fit the processor, ucontext takes its place."""
    source = (Path(__file__).parent / "clean.cu").read_text()
    program = emulator.build(source, tuple(kernels.signatures(source)), flags=("-DEMULATOR_UCONTEXT",))
    x, y = numbers(64), np.zeros(64, np.float32)
    emulator.launch(program, "scan", (1, 1, 1), (64, 1, 1), (x, y))
    np.testing.assert_allclose(y, np.cumsum(x), rtol=1e-5, atol=1e-5)
