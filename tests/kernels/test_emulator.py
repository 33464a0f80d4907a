"""The emulator must find every planted bug, by kind and line, and raise no false alarm."""

import re
from pathlib import Path

import numpy as np
import pytest

from tinyattn import kernels
from tinyattn.emulator import KernelError
from tinyattn.emulator.program import family

pytestmark = pytest.mark.usefixtures("emulated")

HERE = Path(__file__).parent
ORDERS = [("forward", 0), ("reverse", 0), ("random", 1), ("random", 2)]


def x(*shape):
    return np.random.default_rng(7).normal(size=shape).astype(np.float32)


def zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


def numbers(n, dtype, below=100):
    return np.random.default_rng(7).integers(0, below, n).astype(dtype)


# kernel: (grid, block, arguments, bytes of dynamic shared memory)
PLANTED = {
    "neighbour_without_barrier": (1, 64, (x(64), zeros(64)), 0),
    "tree_without_barrier": (1, 64, (x(64), zeros(1)), 0),
    "maximum_overwritten": (1, 64, (x(64), zeros(64)), 0),
    "tile_overwritten": (1, (16, 16), (x(16, 16), zeros(16, 16)), 0),
    "warp_in_step": (1, 32, (x(32), zeros(1)), 0),
    "one_slot_for_all": (1, 64, (x(64), zeros(1)), 0),
    "plain_counter": (1, 64, (x(64), zeros(1)), 0),
    "scan_in_place": (1, 64, (x(64), zeros(64)), 0),
    "half_a_warp_waits": (1, 32, (x(32), zeros(32)), 0),
    "one_warp_barrier_of_two": (1, 32, (x(32), zeros(32)), 0),
    "readers_of_two_warps": (1, 64, (x(64), zeros(64)), 0),
    "struct_handed_over": (1, 64, (x(64), zeros(64)), 0),
    "shuffle_as_barrier": (1, 64, (x(64), zeros(64)), 0),
    "blocks_add": (4, 32, (x(4, 32), zeros(1)), 0),
    "atomic_and_plain": (1, 32, (x(32), zeros(1)), 0),
    "two_writers": (1, 64, (x(64), zeros(32)), 0),
    "smooth_in_place": (4, 32, (x(128),), 0),
    "last_block_without_fence": (4, 32, (x(4, 32), zeros(4), zeros(1, dtype=np.uint32), zeros(1)), 0),
    "no_guard": (2, 64, (x(100), zeros(100), 100), 0),
    "one_too_many": (1, 32, (zeros(20), 20), 0),
    "left_of_the_first": (1, 64, (x(64), zeros(64)), 0),
    "index_too_narrow": (2, 256, (x(300, 300), zeros(300)), 0),
    "shared_too_short": (1, 64, (x(64), zeros(64)), 0),
    "local_too_short": (1, 32, (x(32), zeros(32), 4), 0),
    "dynamic_too_small": (1, 64, (x(64), zeros(64)), 128),
    "second_array_misplaced": (1, 32, (x(32), zeros(32)), 256),
    "pack_past_the_end": (1, 8, (x(30), zeros(8)), 0),
    "local_address_shared": (1, 32, (x(32), zeros(32)), 0),
    "wild_address": (1, 32, (x(32), zeros(32)), 0),
    "pack_off_by_one": (1, 8, (x(33), zeros(8)), 0),
    "int_at_any_byte": (1, 32, (numbers(132, np.uint8), zeros(32, dtype=np.int32)), 0),
    "atomic_at_any_byte": (1, 32, (numbers(132, np.uint8),), 0),
    "double_behind_a_float": (1, 32, (x(64), zeros(32)), 512),
    "filled_by_one_block": (2, 32, (x(32), zeros(2, 32)), 0),
    "half_a_tile": (1, 64, (x(32), zeros(64)), 0),
    "more_slots_than_warps": (1, 64, (x(64), zeros(1)), 0),
    "index_from_nothing": (1, 32, (x(32), zeros(32)), 0),
    "never_filled": (1, 32, (zeros(32),), 0),
    "sum_from_nothing": (1, 32, (x(32), zeros(1)), 0),
    "barrier_for_some": (1, 64, (x(64), zeros(64)), 0),
    "leaves_before_barrier": (1, 64, (x(60), zeros(60), 60), 0),
    "barriers_by_thread": (1, 64, (x(64), zeros(64)), 0),
    "two_barriers": (1, 64, (x(64), zeros(64)), 0),
    "shuffle_for_some": (1, 32, (x(32), zeros(32)), 0),
    "mask_names_half": (1, 32, (x(32), zeros(32)), 0),
    "mask_names_others": (1, 32, (x(32), zeros(32)), 0),
    "shuffle_meets_vote": (1, 32, (x(32), zeros(32)), 0),
    "warp_barrier_after_return": (1, 32, (x(30), zeros(30), 30), 0),
    "barrier_meets_shuffle": (1, 64, (x(64), zeros(64)), 0),
    "no_step": (1, 32, (x(32), zeros(32)), 0),
    "waits_for_nobody": (1, 32, (zeros(1, dtype=np.int32),), 0),
}


def marks():
    """For each kernel of planted.cu: what kind of bug is marked, and on which lines."""
    found, here = {}, set()
    for number, line in enumerate((HERE / "planted.cu").read_text().splitlines(), 1):
        if match := re.search(r"__global__ void (\w+)", line):
            found[match[1]] = here  # with the marks of the function above it, which it calls
        if match := re.search(r"// BUG: (.*)", line):
            here.add((match[1], number))
        if line == "}" and here is found.get(next(reversed(found), None)):
            here = set()
    return found


def test_every_planted_kernel_is_launched_and_marked():
    defined = set(kernels.signatures((HERE / "planted.cu").read_text()))
    assert defined == set(PLANTED) == set(marks())
    assert len(defined) >= 30


@pytest.mark.parametrize("order", ORDERS, ids=lambda order: "".join(map(str, order)))
@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_bug_is_found_by_kind_and_line(name, order):
    if name == "pack_off_by_one" and family() == "clang":
        pytest.skip("clang copies a struct by memcpy, which says nothing of its alignment")
    grid, block, arguments, shared_mem = PLANTED[name]
    before = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
    module = kernels.load(HERE / "planted.cu", "emulated", checked=True, order=order[0], seed=order[1], time_limit=0.3)
    with pytest.raises(KernelError) as caught:
        module.get_function(name)(grid, block, arguments, shared_mem=shared_mem)
    fault = caught.value
    assert (fault.kind, fault.line) in marks()[name], str(fault)
    assert (fault.kernel, fault.file) == (name, "planted.cu")
    assert fault.block is not None
    assert fault.thread is not None
    for old, new in zip(before, arguments, strict=True):
        np.testing.assert_array_equal(old, new)  # a launch that fails brings nothing back


def halves(a):
    return np.concatenate([np.full(16, a[:16].sum()), np.full(16, a[16:].max())])


def votes(v):
    alike = (v[:, None] == v).sum(1)
    return alike + 100 * v.max() + 10000 * v.sum() + 1000000


SMALL = numbers(32, np.int32, below=5)
DIGITS = numbers(256, np.int32, below=10)
BYTES, BITS = numbers(64, np.uint8), numbers(64, np.uint16, below=60000)

# kernel: (grid, block, arguments, bytes of dynamic shared memory, which argument is the result, what it must be)
CLEAN = {
    "block_sum_twice": (1, 64, (x(64), zeros(1)), 0, 1, [64 * x(64).sum()]),
    "tiled_product": ((3, 3), (16, 16), (x(48, 48), zeros(48, 48)), 0, 1, x(48, 48) @ x(48, 48)),
    "transpose": (1, (32, 8), (x(32, 32), zeros(32, 32)), 0, 1, x(32, 32).T),
    "scan": (1, 64, (x(64), zeros(64)), 0, 1, np.cumsum(x(64))),
    "warp_exchange": (1, 32, (x(32), zeros(32)), 0, 1, 2 * x(32)[::-1][np.arange(32) ^ 1]),
    "two_halves": (1, 32, (x(32), zeros(32)), 0, 1, halves(x(32))),
    "short_block": (1, 20, (x(20), zeros(1)), 0, 1, [x(20).sum()]),
    "rows_by_warp": (2, (32, 4), (x(5, 32), zeros(5), 5), 0, 1, x(5, 32).sum(1)),
    "last_block_sums": (4, 32, (x(4, 32), zeros(4), zeros(1, dtype=np.uint32), zeros(1)), 0, 3, [x(4, 32).sum()]),
    "histogram": (4, 64, (DIGITS, zeros(10, dtype=np.int32)), 0, 1, np.bincount(DIGITS, minlength=10)),
    "neighbouring_bytes": (1, 64, (BYTES, zeros(64, dtype=np.uint8)), 0, 1, BYTES[::-1] + 1),
    "neighbouring_halves": (1, 64, (BITS, zeros(64, dtype=np.uint16)), 0, 1, BITS[np.arange(64) ^ 1]),
    "grid_stride": (2, 48, (x(1003), zeros(1003), 1003), 0, 1, 2 * x(1003)),
    "counting_barriers": (1, 64, (x(64), zeros(3)), 0, 1, [(x(64) > 0).sum(), (x(64) > 2).any(), 1]),
    "two_dynamic_arrays": (1, 32, (x(32), zeros(32)), 384, 1, x(32)[::-1] + 1),
    "spin_lock": (2, 64, (zeros(1, dtype=np.int32), zeros(1, dtype=np.int32)), 0, 1, [128]),
    "own_variables": (1, 32, (x(32), zeros(32)), 0, 1, x(32) * (np.arange(32) % 4 + 1) * 3),
    "template_slots": (1, 32, (x(32), zeros(32)), 0, 1, 2 * x(32) + 2 * np.arange(32)),
    "dynamic_in_a_template": (1, 32, (x(32), zeros(32)), 128, 1, x(32)[::-1]),
    "library_names": (1, 32, (x(32), zeros(32)), 0, 1, x(32) * (np.arange(32) % 4 + 1)),
    "votes": (1, 32, (SMALL, zeros(32, dtype=np.int32)), 0, 1, votes(SMALL)),
}


def test_every_clean_kernel_is_launched():
    assert set(kernels.signatures((HERE / "clean.cu").read_text())) == set(CLEAN)
    assert len(CLEAN) >= 10


@pytest.mark.parametrize("checked", [False, True], ids=["fast", "checked"])
@pytest.mark.parametrize("name", CLEAN)
def test_a_clean_kernel_is_right_and_raises_no_alarm(name, checked):
    grid, block, arguments, shared_mem, result, expected = CLEAN[name]
    got = []
    for order, seed in ORDERS:
        fresh = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
        module = kernels.load(HERE / "clean.cu", "emulated", checked=checked, order=order, seed=seed)
        module.get_function(name)(grid, block, fresh, shared_mem=shared_mem)
        got.append(fresh[result])
        # sums of at most 64 float32 of size one, in another order than NumPy's
        np.testing.assert_allclose(got[-1], expected, rtol=2e-5, atol=2e-5)
    assert all(g.tobytes() == got[0].tobytes() for g in got)


# ------------------------------------------------------------------------------------------------ what is counted

PATTERNS = """
extern "C" __global__ void copy(const float* x, float* y, int stride, int offset)
{
    y[threadIdx.x] = x[threadIdx.x * stride + offset];
}
extern "C" __global__ void packs(const float4* x, float4* y) { y[threadIdx.x] = x[threadIdx.x]; }
extern "C" __global__ void bytes(const unsigned char* x, unsigned char* y) { y[threadIdx.x] = x[threadIdx.x]; }
extern "C" __global__ void some(const float* x, float* y) { if (threadIdx.x % 2) y[threadIdx.x] = x[0]; }
extern "C" __global__ void loop(const float* x, float* y, int n)
{
    for (int i = threadIdx.x; i < n; i += 32) y[i] = x[i];
}
extern "C" __global__ void banks(const float* x, float* y, int stride)
{
    __shared__ float tile[32 * 33];
    for (int i = threadIdx.x; i < 32 * 33; i += 32) tile[i] = 0;
    __syncwarp();
    y[threadIdx.x] = tile[threadIdx.x * stride];
}
extern "C" __global__ void wide_banks(float* y, int stride)
{
    __shared__ __align__(16) double tile[32 * 17];
    for (int i = threadIdx.x; i < 32 * 17; i += 32) tile[i] = 0;
    __syncwarp();
    y[threadIdx.x] = tile[threadIdx.x * stride];
}
"""


def counts(name, arguments, block=32):
    return kernels.load(PATTERNS, "emulated", checked=True).get_function(name)(1, block, arguments)


@pytest.mark.parametrize(
    ("stride", "offset", "sectors"),
    [
        (1, 0, 4),  # 128 bytes in a row
        (1, 1, 5),  # the same, begun in the middle of a sector
        (2, 0, 8),
        (8, 0, 32),  # a sector for each number
        (40, 3, 32),
        (0, 5, 1),  # all lanes want one number
        (-1, 31, 4),  # the order does not matter
    ],
)
def test_sectors_by_hand(stride, offset, sectors):
    found = counts("copy", (x(32 * 41), zeros(32), stride, offset))
    assert found.moved(write=False) == 32 * sectors
    assert found.asked(write=False) == 128
    assert found.moved(write=True) == found.asked(write=True) == 128
    assert found.moved(array="x") == 32 * sectors
    assert [(t.line, t.array, t.write, t.requests) for t in found.lines] == [(4, "x", False, 1), (4, "y", True, 1)]


def test_requests_of_packs_bytes_some_lanes_and_loops():
    packs = counts("packs", (x(128), zeros(128)))
    assert (packs.moved(), packs.asked(), [t.requests for t in packs.lines]) == (1024, 1024, [1, 1])
    few = counts("bytes", (zeros(32, dtype=np.uint8), zeros(32, dtype=np.uint8)))
    assert (few.moved(), few.asked()) == (64, 64)
    some = counts("some", (x(4), zeros(64)), block=64)
    assert (some.moved(write=False), some.asked(write=False)) == (2 * 32, 2 * 16 * 4)
    assert some.moved(write=True) == 2 * 4 * 32
    loop = counts("loop", (x(100), zeros(100), 100))
    assert loop.moved(write=False) == 13 * 32
    assert [t.requests for t in loop.lines] == [4, 4]


@pytest.mark.parametrize(
    ("name", "stride", "conflicts"),
    [
        ("banks", 1, 0),
        ("banks", 2, 1),
        ("banks", 32, 31),  # all lanes in one bank
        ("banks", 33, 0),  # the padding that cures it
        ("banks", 0, 0),  # one word for all
        ("wide_banks", 1, 0),  # 8 bytes: two halves of a warp, each over all banks
        ("wide_banks", 2, 2),
        ("wide_banks", 16, 30),
        ("wide_banks", 17, 0),
    ],
)
def test_bank_conflicts_by_hand(name, stride, conflicts):
    arguments = (x(32), zeros(32), stride) if name == "banks" else (zeros(32), stride)
    found = counts(name, arguments)
    assert found.conflicts == conflicts


# ------------------------------------------------------------------------------------------ what a GPU does, too

ARITHMETIC = """
extern "C" __global__ void widen(const unsigned short* x, float* y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    y[i] = emulator::half_to_float(x[i]);
}
extern "C" __global__ void narrow(const float* x, unsigned short* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = emulator::float_to_half(x[i]);
}
extern "C" __global__ void fast_exp(const float* x, float* y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) y[i] = __expf(x[i]);
}
extern "C" __global__ void halve(const float* x, float* y) { y[threadIdx.x] = x[threadIdx.x] * 0.5f; }
extern "C" __global__ void peek(float* y)
{
    __shared__ float tile[32];
    y[threadIdx.x] = tile[threadIdx.x];
}
"""


def arithmetic(name, grid, arguments, block=256):
    kernels.load(ARITHMETIC, "emulated").get_function(name)(grid, block, arguments)
    return arguments[1]


def test_every_float16_converts_as_in_numpy():
    bits = np.arange(65536, dtype=np.uint16)
    wide = arithmetic("widen", 256, (bits, zeros(65536)))
    expected = bits.view(np.float16).astype(np.float32)
    assert ((wide.view(np.uint32) == expected.view(np.uint32)) | (np.isnan(wide) & np.isnan(expected))).all()
    finite = np.sort(expected[np.isfinite(expected)])
    ties = (finite[:-1] + finite[1:]) / 2  # halfway between neighbours, and just beside
    inputs = np.concatenate(
        [finite, ties, np.nextafter(ties, -np.inf), np.nextafter(ties, np.inf), [65520, 1e30, -np.inf]]
    )
    inputs = inputs[np.abs(inputs) > 1e-37].astype(np.float32)
    narrow = arithmetic("narrow", -(-len(inputs) // 256), (inputs, zeros(len(inputs), dtype=np.uint16), len(inputs)))
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(narrow.view(np.float16), inputs.astype(np.float16))


def test_fast_exp_errs_within_its_documented_bound_and_does_err():
    inputs = np.linspace(-80, 80, 5000, dtype=np.float32)
    got = arithmetic("fast_exp", 20, (inputs, zeros(5000), 5000)).astype(np.float64)
    error = (
        np.abs(got / np.exp(inputs.astype(np.float64)) - 1) * 2**24
    )  # in halves of a unit in the last place, or less
    bound = 2 + np.floor(np.abs(1.173 * inputs.astype(np.float64)))
    assert (error <= 2 * bound).all()
    assert (error > bound / 2).mean() > 0.5


def test_subnormal_numbers_become_zero_as_with_cupy():
    inputs = np.float32([2.0**-125, 2.0**-126, 2.0**-130, -(2.0**-126)])
    np.testing.assert_array_equal(arithmetic("halve", 1, (inputs, zeros(4)), 4), np.float32([2.0**-126, 0, 0, 0]))


def test_shared_memory_begins_as_nan():
    y = zeros(32)
    kernels.load(ARITHMETIC, "emulated").get_function("peek")(1, 32, (y,))
    assert np.isnan(y).all()
