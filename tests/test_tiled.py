"""Attention by blocks: edges, peaks, workers, memory, Ctrl-C. What it computes is tested with every other method, in
test_attention.py and test_cases_attention.py."""

import _thread
import math
import os
import platform
import subprocess
import sys
import threading
import time
import tracemalloc

import numpy as np
import pytest
from by_hand import attention_by_hand

from tinyattn import Tensor, no_grad, scaled_dot_product_attention
from tinyattn.attention import blas, blocks, tiled, workers
from tinyattn.attention.dropout import keep_block, keep_mask
from tinyattn.attention.tiled import tiled_attention, tiled_is_faster

NAMES = ("query", "key", "value")


def inputs(rng, L, S, E=5, EV=3, lead=(2, 3), dtype=float):
    return [rng.normal(size=(*lead, *shape)).astype(dtype) for shape in ((L, E), (S, E), (S, EV))]


def attend(q, k, v, attn_mask=None, upstream=None, workers=None, **options):
    """Output and gradients of tiled attention, straight from the op where workers are given."""
    leaves = [Tensor(x, requires_grad=True) for x in (q, k, v)]
    if workers is None:
        output = scaled_dot_product_attention(*leaves, attn_mask, method="tiled", **options)
    else:
        output = tiled_attention(*leaves, attn_mask, factor=0.3, workers=workers, **options)
    output.backward(upstream)
    return [output.data, *(leaf.grad for leaf in leaves)]


def by_steps(q, k, v, upstream, **options):
    """The same by the four steps in float64, for what is too much for by_hand."""
    leaves = [Tensor(x, requires_grad=True, dtype=np.float64) for x in (q, k, v)]
    output = scaled_dot_product_attention(*leaves, method="steps", **options)
    output.backward(upstream)
    return [output.data, *(leaf.grad for leaf in leaves)]


@pytest.fixture(params=[((8, 4), 2, 1), ((8, 4), 2, 100), ((5, 2), 2, 8), ((1, 1), 1, 8), ((9, 7), 9, 8)], ids=str)
def small_blocks(request, monkeypatch):
    """Blocks so small that a few dozen queries and keys make many, whose edges fall everywhere. Few parts make them
    tall in forward, many parts wide."""
    size, cut, parts = request.param
    monkeypatch.setattr(tiled, "BLOCK", size)
    monkeypatch.setattr(tiled, "PARTS", parts)
    monkeypatch.setattr(tiled, "SHORTEST", 7)
    monkeypatch.setattr(blocks, "CUT", cut)
    blocks._blocks.cache_clear()
    yield
    blocks._blocks.cache_clear()


@pytest.fixture(params=[(np.exp, 1.0), (np.exp2, math.log2(math.e))], ids=["exp", "exp2"])
def exp(request, monkeypatch):
    """Both functions of which a machine takes the faster one."""
    monkeypatch.setattr(tiled, "_fastest_exp", lambda dtype: request.param)


# --- cases from public trackers, against the formula in a line ------------------------------------------------------


def dense(q, k, v, scale):
    powers = np.exp(q @ k.swapaxes(-1, -2) * scale)
    return powers / powers.sum(axis=-1, keepdims=True) @ v


def check_case(rng, L, S, E, EV=3, **options):
    q, k, v = inputs(rng, L, S, E, EV, lead=(2,), **options)
    got = scaled_dot_product_attention(q, k, v, method="tiled").data
    np.testing.assert_allclose(got, dense(q, k, v, E**-0.5), rtol=1e-12, atol=1e-12)
    return got


@pytest.mark.parametrize("n", [192, 5, 257, 1023, 1025])
def test_TIL_01_lengths_that_are_no_multiple_of_the_block(rng, n):
    check_case(rng, n, n, 16)


@pytest.mark.parametrize(("L", "S"), [(4095, 1024), (4096, 1023), (1, 4095), (1023, 4096), (255, 1025)])
def test_TIL_02_lengths_one_off_the_block(rng, L, S):
    check_case(rng, L, S, 8)


def test_TIL_03_all_columns_of_a_wide_head_count(rng):
    q, k, v = inputs(rng, 20, 30, 128, lead=(2,))
    q[..., :64] = k[..., :64] = 0
    got = scaled_dot_product_attention(q, k, v, method="tiled").data
    np.testing.assert_allclose(got, dense(q, k, v, 128**-0.5), rtol=1e-12, atol=1e-14)
    assert np.abs(got - v.mean(axis=-2, keepdims=True)).max() > 0.1


@pytest.mark.parametrize("n", [1, 2, 3])
def test_TIL_06_fewer_tokens_than_the_smallest_block(rng, n):
    check_case(rng, n, n, 4)


@pytest.mark.parametrize("E", [72, 1, 65, 127])
def test_TIL_08_widths_that_are_no_power_of_two_and_repeated_runs(rng, E):
    q, k, v = inputs(rng, 300, 280, E, dtype=np.float32)
    first, *others = (scaled_dot_product_attention(q, k, v, method="tiled").data for _ in range(4))
    for other in others:
        np.testing.assert_array_equal(first, other)
    check_case(rng, 300, 280, E)


@pytest.mark.parametrize(("n", "E", "EV"), [(100, 63, 63), (100, 63, 5), (77, 3, 65)])
def test_TIL_11_neither_length_nor_width_is_a_power_of_two(rng, n, E, EV):
    check_case(rng, n, n, E, EV)


# --- blocks ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("magnitude", [1, 40], ids=["plain", "with peaks"])
@pytest.mark.parametrize("offset", [0, 6, -5, -40])
@pytest.mark.parametrize("window", [(None, None), (4, None), (3, 2), (0, 0), (None, 1)])
@pytest.mark.parametrize("is_causal", [False, True])
def test_blocks_against_diagonals(rng, small_blocks, exp, is_causal, window, offset, magnitude):
    """Every way in which a diagonal can cross, touch or miss a block."""
    L, S = 17, 21
    q, k, v = inputs(rng, L, S, lead=())
    q *= magnitude
    upstream = rng.normal(size=(L, 3))
    distance = np.arange(S) - np.arange(L)[:, None] - offset
    left, right = window
    keep = np.ones((L, S), bool) if not is_causal else distance <= 0
    keep &= (left is None) | (distance >= -(left or 0))
    keep &= (right is None) | (distance <= (right or 0))
    ours = attend(q, k, v, upstream=upstream, workers=1, is_causal=is_causal, window=window, offset=offset)
    expected = attention_by_hand(q, k, v, keep=keep, factor=0.3, grad=upstream)
    for name, x in zip(("output", *NAMES), ours, strict=True):
        np.testing.assert_allclose(x, getattr(expected, name), rtol=1e-9, atol=1e-11 * magnitude, err_msg=name)


@pytest.mark.parametrize("mask", ["boolean", "bias"])
@pytest.mark.parametrize("shape", [(17, 21), (2, 1, 17, 21), (3, 1, 21), (1, 17, 1), (21,), ()], ids=str)
def test_blocks_of_masks(rng, small_blocks, shape, mask):
    q, k, v = inputs(rng, 17, 21)
    attn_mask = rng.random(shape) < 0.7 if mask == "boolean" else np.asarray(rng.normal(size=shape))
    upstream = rng.normal(size=(2, 3, 17, 3))
    leaf = Tensor(attn_mask, requires_grad=mask == "bias")
    ours = attend(q, k, v, leaf, upstream, is_causal=True)
    bare = attend(q, k, v, attn_mask, upstream, is_causal=True)
    keep = np.tri(17, 21, dtype=bool) & (attn_mask if mask == "boolean" else True)
    expected = attention_by_hand(q, k, v, keep=keep, bias=attn_mask if mask == "bias" else None, grad=upstream)
    for name, x, y in zip(("output", *NAMES), ours, bare, strict=True):
        np.testing.assert_allclose(x, getattr(expected, name), rtol=1e-9, atol=1e-12, err_msg=name)
        np.testing.assert_array_equal(x, y)
    if mask == "bias":
        np.testing.assert_allclose(leaf.grad, expected.bias.reshape(shape), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("shared", [(2, 1), (1, 3), (3,), (1, 1), ()], ids=str)
def test_blocks_of_keys_that_several_queries_share(rng, small_blocks, shared, is_causal):
    q, k, v = inputs(rng, 17, 21)
    k, v = (rng.normal(size=(*shared, *x.shape[-2:])) for x in (k, v))
    upstream = rng.normal(size=(2, 3, 17, 3))
    expected = by_steps(q, k, v, upstream, is_causal=is_causal)
    ours = attend(q, k, v, upstream=upstream, is_causal=is_causal)
    for name, x, y in zip(("output", *NAMES), ours, expected, strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12, err_msg=name)


@pytest.mark.parametrize(("L", "S"), [(255, 1025), (257, 1023), (1025, 257), (1, 2049), (2049, 1)])
def test_lengths_around_the_blocks_as_they_are(rng, L, S):
    q, k, v = inputs(rng, L, S, lead=())
    upstream = rng.normal(size=(L, 3))
    for is_causal in (False, True):
        expected = by_steps(q, k, v, upstream, is_causal=is_causal)
        ours = attend(q, k, v, upstream=upstream, is_causal=is_causal)
        for name, x, y in zip(("output", *NAMES), ours, expected, strict=True):
            np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-11, err_msg=name)


# --- with and without peaks ------------------------------------------------------------------------------------------


def plain_rows(q, k, v, **options):
    call = tiled._Call(q, k, v, None, None, False, (None, None), 0, 1.0, 0.0, 0, 1)
    call.forward()
    return call.plain


def test_rows_are_plain_where_exp_is_safe(rng, small_blocks):
    """exp of a score of 40 is too much, of -40 too little; either is the matter of its own block of rows."""
    q, k, v = np.ones((12, 1)), rng.normal(size=(9, 1)), rng.normal(size=(9, 2))
    assert plain_rows(q, k, v).all()
    for far in (40.0, -40.0):
        scores = np.ones((12, 1))
        scores[-1] = far
        plain = plain_rows(scores, np.ones((9, 1)), v)
        assert plain[0, 0]
        assert not plain[0, -1]
    for value in (1e30, np.inf, np.nan):
        assert not plain_rows(q, k, np.where(np.arange(9)[:, None] == 4, value, v)).any()


@pytest.mark.parametrize("shift", [-1e4, -90, -30, 0, 30, 90, 1e4])
def test_a_shift_of_all_scores_changes_nothing(rng, small_blocks, shift):
    """The sums over- and underflow at some of these shifts, were there no peak."""
    q, k, v = inputs(rng, 9, 11, lead=(), dtype=np.float32)
    q1, k1 = (np.concatenate([x, np.full((len(x), 1), s, np.float32)], -1) for x, s in ((q, shift), (k, 1)))
    upstream = rng.normal(size=(9, 3)).astype(np.float32)
    plain, shifted = (attend(x, y, v, upstream=upstream, scale=0.5) for x, y in ((q, k), (q1, k1)))
    spacing = np.spacing(np.float32(abs(shift) + 10))
    np.testing.assert_allclose(shifted[0], plain[0], atol=20 * spacing)
    np.testing.assert_allclose(shifted[3], plain[3], atol=20 * spacing)


def test_scores_near_the_largest_float_stay_finite(rng, exp):
    """The largest is below the limit, 1.44 times as much is not."""
    q, k = np.array([[3e38], [1], [-3e38]], np.float32), np.array([[0.5], [1], [0.2]], np.float32)
    v = rng.normal(size=(3, 2)).astype(np.float32)
    output = scaled_dot_product_attention(q, k, v, scale=1.0, method="tiled").data
    np.testing.assert_array_equal(output[[0, 2]], v[[1, 2]])
    np.testing.assert_allclose(output, scaled_dot_product_attention(q, k, v, scale=1.0, method="steps").data, rtol=1e-6)


def test_values_near_the_largest_float_are_averaged(rng):
    q, k, v = inputs(rng, 6, 7, lead=(), dtype=np.float32)
    output = scaled_dot_product_attention(20 * q, k, np.full_like(v, 2e38), method="tiled").data
    np.testing.assert_allclose(output, 2e38, rtol=1e-5)


@pytest.mark.parametrize("magnitude", [1, 6], ids=["plain", "with peaks"])
@pytest.mark.parametrize("is_causal", [False, True])
def test_float32_is_as_exact_as_the_four_steps(rng, exp, is_causal, magnitude):
    """At most twice their error against float64: of all entries (root mean square), and of the worst in a thousand.

    The largest of all would be chance: where a weight is close to one, the steps, which subtract the very score that
    they found, happen to be exact, and two samples of one distribution differ by more than twice.
    """
    L, S = 1200, 1100  # sums over whole blocks, of queries and of keys
    errors: dict[str, list] = {"steps": [], "tiled": []}
    for _ in range(4):
        q, k, v = inputs(rng, L, S, E=33, EV=20, lead=())
        single = [x.astype(np.float32) for x in (magnitude * q, k, v, rng.normal(size=(L, 20)))]
        expected = by_steps(*single, is_causal=is_causal)
        for method, found in errors.items():
            leaves = [Tensor(x, requires_grad=True) for x in single[:3]]
            output = scaled_dot_product_attention(*leaves, is_causal=is_causal, method=method)
            output.backward(single[3])
            results = output.data, *(leaf.grad for leaf in leaves)
            found.append([np.abs(x - y).ravel() for x, y in zip(results, expected, strict=True)])
    for i, name in enumerate(("output", *NAMES)):
        ours, steps = (np.concatenate([found[i] for found in errors[method]]) for method in ("tiled", "steps"))
        assert np.linalg.norm(ours) <= 2 * np.linalg.norm(steps), name
        assert np.quantile(ours, 0.999) <= 2 * np.quantile(steps, 0.999), name


def test_a_peak_in_the_first_block_saves_the_others(rng, monkeypatch):
    """Where exp without a peak is out of range, the first block tells: the others are not made twice."""
    weighed = []
    weigh = tiled._weigh
    monkeypatch.setattr(tiled, "_weigh", lambda *given: weighed.append(given[-1]) or weigh(*given))
    q, k, v = inputs(rng, 300, 5000, lead=(), dtype=np.float32)
    scaled_dot_product_attention(200 * np.abs(q), np.abs(k), v, method="tiled")
    parts, blocks_of_a_part = -(-300 // tiled.BLOCK[1]), -(-5000 // tiled.BLOCK[0])
    assert weighed.count(True) == parts
    assert weighed.count(False) == parts * blocks_of_a_part


@pytest.mark.parametrize(
    ("chosen", "function"), [("X86_V4", np.exp2), ("AVX512_SKX", np.exp2), ("baseline(SSE2)", np.exp), (None, np.exp)]
)
def test_exp2_where_numpy_has_it_vectorized(monkeypatch, chosen, function):
    known = {"exp2": {"ff": {"current": chosen, "available": "AVX512_SKX baseline(SSE2)"}}} if chosen else {}
    monkeypatch.setattr(np.lib.introspect, "opt_func_info", lambda func_name, signature: known)
    assert tiled._fastest_exp.__wrapped__(np.dtype(np.float32))[0] is function
    monkeypatch.delattr(np.lib, "introspect")
    assert tiled._fastest_exp.__wrapped__(np.dtype(np.float32)) == (np.exp, 1.0)


# --- dropout ---------------------------------------------------------------------------------------------------------


def test_any_block_of_the_dropout_mask_is_the_same(rng):
    whole = keep_mask((2, 150, 90), 0.3, seed=7)
    for rows, keys in ((slice(0, 150), slice(0, 90)), (slice(64, 128), slice(3, 4)), (slice(100, 150), slice(80, 90))):
        np.testing.assert_array_equal(keep_block(rows, keys, 0.3, 7, 1), whole[1][rows, keys])
    assert 0.68 < whole.mean() < 0.72
    assert (whole[0] != whole[1]).any()
    assert (whole != keep_mask((2, 150, 90), 0.3, seed=8)).any()


@pytest.mark.parametrize("align", ["upper-left", "lower-right"])
def test_both_methods_drop_the_same_weights(rng, align):
    """In backward too, whose blocks begin at other queries."""
    q, k, v = inputs(rng, 300, 1101, lead=(2,))
    options = {"dropout_p": 0.4, "rng": 3, "window": (500, 7), "align": align}
    upstream = rng.normal(size=(2, 300, 3))
    for x, y in zip(attend(q, k, v, upstream=upstream, **options), by_steps(q, k, v, upstream, **options), strict=True):
        np.testing.assert_allclose(x, y, rtol=1e-9, atol=1e-12)


# --- workers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lead", [(), (5,)])
def test_the_bits_are_the_same_for_any_number_of_workers(rng, lead):
    q, k, v = inputs(rng, 900, 1300, E=9, lead=lead, dtype=np.float32)
    upstream = rng.normal(size=(*lead, 900, 3)).astype(np.float32)
    bias = rng.normal(size=(900, 1300)).astype(np.float32)
    results = []
    for count in (1, 2, 4):
        leaf = Tensor(bias, requires_grad=True)
        found = attend(q, k, v, leaf, upstream, workers=count, is_causal=True, dropout_p=0.1)
        results.append([*found, leaf.grad, *attend(q, k, v, upstream=upstream, workers=count)])
    assert len(results[0]) == 9
    for other in results[1:]:
        assert [x.tobytes() for x in other] == [x.tobytes() for x in results[0]]


def threads():
    return blas.blas_threads()[0]()


def test_blas_has_one_thread_inside_and_what_it_had_outside():
    before = threads()
    seen = []
    workers.share(lambda tasks: seen.extend((task, threads()) for task in tasks), range(5))
    assert sorted(seen) == [(task, 1) for task in range(5)]
    assert threads() == before

    def fail(tasks):
        for task in tasks:
            if task == 3:
                raise ZeroDivisionError("task 3")

    for count in (1, 2, 4):
        with pytest.raises(ZeroDivisionError, match="task 3"):
            workers.share(fail, range(500), count)
        assert threads() == before


def test_an_error_in_one_worker_stops_the_others():
    done = []

    def work(tasks):
        for task in tasks:
            for part in tasks.parts(range(10_000)):
                if task == 0 and part == 3:
                    raise MemoryError
                time.sleep(1e-4)
            done.append(task)

    start = time.perf_counter()
    with pytest.raises(MemoryError):
        workers.share(work, range(4), 4)
    assert time.perf_counter() - start < 5  # 10,000 parts take longer than a second each
    assert threading.active_count() < 20


def test_callers_in_several_threads(rng):
    """Each gets its own result, and the last to leave gives BLAS its threads back."""
    before = threads()
    q, k, v = inputs(rng, 300, 400, lead=(3,))
    expected = attend(q, k, v, upstream=np.ones((3, 300, 3)))
    found = [None] * 4

    def call(i):
        for _ in range(3):
            found[i] = attend(q, k, v, upstream=np.ones((3, 300, 3)))

    callers = [threading.Thread(target=call, args=(i,)) for i in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert threads() == before
    for results in found:
        for x, y in zip(results, expected, strict=True):
            np.testing.assert_array_equal(x, y)


def test_without_control_over_blas_one_worker_does_it_all(rng, monkeypatch):
    monkeypatch.setattr(workers, "blas_threads", lambda: ((lambda: 1), (lambda count: None)))
    names = set()
    workers.share(lambda tasks: names.update(threading.current_thread().name for _ in tasks), range(10))
    assert names == {threading.current_thread().name}


@pytest.mark.parametrize("stage", ["forward", "backward"])
def test_ctrl_c_stops_a_long_call(rng, stage):
    """Promptly, with BLAS as it was and everything usable again."""
    before = threads()
    leaves = [Tensor(x, requires_grad=True) for x in inputs(rng, 9000, 9000, E=64, lead=(4,), dtype=np.float32)]
    if stage == "backward":
        few = [Tensor(leaf.data[:, :2000], requires_grad=True) for leaf in leaves]
        output = scaled_dot_product_attention(*few, method="tiled")
    pressed = []

    def press():
        pressed.append(time.perf_counter())
        _thread.interrupt_main()

    def long_call():
        threading.Timer(0.1, press).start()
        if stage == "forward":
            scaled_dot_product_attention(*leaves, method="tiled")
        else:
            for _ in range(100):
                output.backward(np.ones_like(output.data))

    with pytest.raises(KeyboardInterrupt):
        long_call()
    assert time.perf_counter() - pressed[0] < 2
    assert threads() == before
    assert np.isfinite(attend(*inputs(rng, 300, 300), upstream=np.ones((2, 3, 300, 3)))[0]).all()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_has_workers_of_its_own():
    program = """
import os, numpy as np
from tinyattn import scaled_dot_product_attention as attention
q = np.random.default_rng(0).normal(size=(4, 300, 8))
first = attention(q, q, q, method="tiled").data
child = os.fork()
if child == 0:
    os._exit(0 if (attention(q, q, q, method="tiled").data == first).all() else 1)
raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""
    ended = subprocess.run([sys.executable, "-W", "ignore", "-c", program], timeout=60)
    assert ended.returncode == 0


# --- memory ----------------------------------------------------------------------------------------------------------


def peak_memory(function):
    """Bytes at the worst moment of a call beyond those before it."""
    workers.keep_memory()  # once, here and not while it is measured
    tracemalloc.start()
    start = tracemalloc.get_traced_memory()[0]
    kept = function()
    peak = tracemalloc.get_traced_memory()[1] - start
    tracemalloc.stop()
    return peak, kept


def test_16384_tokens_forward_and_backward_in_64_mib(rng):
    """One head of width 64: at most 64 MiB beyond inputs, output and gradients, where one table would take a GiB."""
    extra = {}
    for n in (4096, 8192, 16_384):
        leaves = [Tensor(rng.normal(size=(n, 64)).astype(np.float32), requires_grad=True) for _ in range(3)]
        upstream = np.ones((n, 64), np.float32)

        def run(leaves=leaves, upstream=upstream):
            output = scaled_dot_product_attention(*leaves, is_causal=True, method="tiled")
            output.backward(upstream)
            return output

        peak, output = peak_memory(run)
        extra[n] = peak - output.data.nbytes - sum(leaf.grad.nbytes for leaf in leaves)
    assert extra[16_384] < 64 * 2**20
    assert extra[16_384] < 2.2 * extra[8192] < 2.2 * 2.2 * extra[4096]


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="whether freed memory is kept is up to the C library")
def test_later_calls_ask_the_system_for_no_memory():
    """Output and gradients of 2 MiB each, freed after every call: with new pages for each, over 1,400 page faults."""
    program = """
import resource, numpy as np, tinyattn as ta
leaves = [ta.Tensor(np.ones((8, 1024, 64), np.float32), requires_grad=True) for _ in range(3)]
def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for leaf in leaves:
        leaf.zero_grad()
    ta.scaled_dot_product_attention(*leaves, is_causal=True, method="tiled").backward(leaves[0].data)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before
print(min([faults() for _ in range(6)][2:]))
"""
    told = subprocess.run([sys.executable, "-c", program], timeout=60, capture_output=True, text=True, check=True)
    assert int(told.stdout) < 200


def test_grouped_heads_do_not_copy_keys(rng):
    query = rng.normal(size=(16, 40, 64)).astype(np.float32)
    key, value = rng.normal(size=(2, 1, 5000, 64)).astype(np.float32)
    with no_grad():
        peak, _ = peak_memory(lambda: scaled_dot_product_attention(query, key, value, enable_gqa=True, method="tiled"))
    assert peak < 16 * key.nbytes / 2  # a copy for each query head would take twice that, for keys alone


# --- auto ------------------------------------------------------------------------------------------------------------


def test_auto_takes_blocks_for_large_tables(rng):
    for heads, L, S, larger in (
        (1, 1024, 1024, True),
        (1, 1023, 1024, False),
        (16, 256, 256, True),
        (15, 256, 256, False),
        (17, 255, 256, False),
        (4, 64, 4096, True),
        (4, 63, 8192, False),
    ):
        q, k, v = inputs(rng, L, S, lead=(heads,))
        assert tiled_is_faster(q, k) == larger
        auto, other = (
            scaled_dot_product_attention(q, k, v, method=m).data for m in ("auto", "tiled" if larger else "steps")
        )
        np.testing.assert_array_equal(auto, other)
