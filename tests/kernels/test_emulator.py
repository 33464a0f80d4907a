"""The emulator must find every planted bug, by kind and line, and raise no false alarm."""

import re
from pathlib import Path

import numpy as np
import pytest

from tinyattn import kernels
from tinyattn.emulator import KernelError

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
    "struct_handed_over": (1, 64, (x(64), zeros(64)), 0),
    "shuffle_as_barrier": (1, 64, (x(64), zeros(64)), 0),
    "blocks_add": (4, 32, (x(4, 32), zeros(1)), 0),
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
    "double_behind_a_float": (1, 32, (x(64), zeros(32)), 512),
    "half_a_tile": (1, 64, (x(32), zeros(64)), 0),
    "more_slots_than_warps": (1, 64, (x(64), zeros(1)), 0),
    "sum_from_nothing": (1, 32, (x(32), zeros(1)), 0),
    "barrier_for_some": (1, 64, (x(64), zeros(64)), 0),
    "leaves_before_barrier": (1, 64, (x(60), zeros(60), 60), 0),
    "barriers_by_thread": (1, 64, (x(64), zeros(64)), 0),
    "two_barriers": (1, 64, (x(64), zeros(64)), 0),
    "shuffle_for_some": (1, 32, (x(32), zeros(32)), 0),
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


def transposed_sum(a):
    return a.sum(dtype=np.float32)


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
