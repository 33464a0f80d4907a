"""The ledger against hand counts, against counted arithmetic, and against the memory that NumPy asks for."""

import tracemalloc

import numpy as np
import pytest

import tinyattn as ta
from tinyattn.costs import attention_costs, kept_pairs

ARITHMETIC = {"add", "subtract", "multiply", "divide", "negative", "maximum", "exp"}


class Counted(np.ndarray):
    """An array that notes, for every NumPy function applied to it, the operations and the bytes it takes."""

    flops = read = written = 0

    def __array_ufunc__(self, ufunc, method, *inputs, out=None, **options):
        plain = [x.view(np.ndarray) if isinstance(x, Counted) else x for x in inputs]
        if out is not None:
            options["out"] = tuple(x.view(np.ndarray) if isinstance(x, Counted) else x for x in out)
        result = getattr(ufunc, method)(*plain, **options)
        if ufunc is np.matmul:
            Counted.flops += 2 * result.size * plain[0].shape[-1]
        elif ufunc.__name__ in ARITHMETIC:
            Counted.flops += np.size(plain[0] if method == "reduce" else result)
        Counted.read += sum(x.nbytes for x in plain if isinstance(x, np.ndarray))
        Counted.written += np.asarray(result).nbytes
        return result.view(Counted) if isinstance(result, np.ndarray) else result

    def __array_function__(self, function, types, args, kwargs):
        if function is not np.einsum:
            return super().__array_function__(function, types, args, kwargs)
        subscripts, *factors = args  # of one shape: a product and a sum for each number
        plain = [x.view(np.ndarray) for x in factors]
        result = np.einsum(subscripts, *plain, **kwargs)
        Counted.flops += 2 * plain[0].size
        Counted.read += sum(x.nbytes for x in plain)
        Counted.written += result.nbytes
        return result.view(Counted)


def counted(function, *arrays):
    """The function's result, and the (flops, read, written) that it took."""
    Counted.flops = Counted.read = Counted.written = 0
    result = function(*(a.view(Counted) if isinstance(a, np.ndarray) else a for a in arrays))
    return result, (Counted.flops, Counted.read, Counted.written)


def test_a_small_case_counted_by_hand():
    ledger = attention_costs((2, 4), (3, 4), (3, 5), dtype="float64")  # L=2, S=3, E=4, Ev=5: 6 pairs
    forward = [(s.name, s.flops, s.read, s.written, s.live) for s in ledger.forward]
    assert forward == [
        ("1 scores", 2 * 6 * 4, 8 * (8 + 12), 48, 48),
        ("2 scale", 6, 48, 48, 96),
        ("3 softmax", 5 * 6, 48, 48, 144),
        ("4 weighted sum", 2 * 6 * 5, 8 * (6 + 15), 80, 144 + 80),
    ]
    backward = [(s.name, s.flops, s.read, s.written, s.live) for s in ledger.backward]
    kept = 144 + 80  # what forward left
    assert backward == [
        ("4 weighted sum", 4 * 6 * 5, 8 * (10 + 15 + 6), 120 + 48, kept + 80 + 120 + 48),
        ("3 softmax", 4 * 6, 96, 48, kept + 120 + 96),
        ("2 scale", 6, 48, 48, kept + 120 + 96),
        ("1 scores", 4 * 6 * 4, 8 * (6 + 8 + 12), 8 * (8 + 12), kept + 120 + 48 + 160 + 8),
    ]
    assert ledger.flops == 144 + 246
    assert ledger.forward_flops == 144
    assert ledger.forward_peak == kept
    assert ledger.peak == kept + 120 + 48 + 160 + 8
    assert ledger.moved == sum(s.read + s.written for s in ledger.forward + ledger.backward)


def test_each_step_does_the_operations_that_the_ledger_says():
    """Exactly for the products and the scale; softmax leaves out at most 3 operations per row."""
    rng = np.random.default_rng(0)
    B, L, S, E, Ev = 2, 13, 17, 7, 11
    query, key, value = (rng.normal(size=(B, *shape)) for shape in ((L, E), (S, E), (S, Ev)))
    ledger = attention_costs(query.shape, key.shape, value.shape, dtype="float64")
    work = {}

    def run(name, forward, *arrays, settings=None):
        (output, vjp), work["forward", name] = counted(lambda *a: forward(*a, **(settings or {})), *arrays)
        rules = vjp if isinstance(vjp, tuple) else (vjp,)
        grad = rng.normal(size=output.shape)
        runs = [counted(rule, grad)[1] for rule in rules]
        work["backward", name] = tuple(map(sum, zip(*runs, strict=True)))
        return output.view(np.ndarray)

    raw = run("1 scores", ta.scores.forward, query, key)
    scaled = run("2 scale", ta.scale.forward, raw, settings={"factor": 0.5})
    weights = run("3 softmax", ta.softmax.forward, scaled)
    run("4 weighted sum", ta.weighted_sum.forward, weights, value)
    for direction, name in work:
        for step in (s for s in getattr(ledger, direction) if s.name == name):
            flops, read, written = work[direction, step.name]
            row_wise = 3 * B * L if "softmax" in step.name else 0
            assert abs(flops - step.flops) <= row_wise, (direction, step.name)
            assert read >= step.read, (direction, step.name)  # each array once is the least that a step can do
            assert written >= step.written, (direction, step.name)
            if direction == "forward" and "softmax" not in step.name:
                assert written == step.written


MEMORY_CASES = [
    {},
    {"is_causal": True},
    {"window": (3, 5)},
    {"is_causal": True, "window": (9, None)},
    {"attn_mask": np.ones((400, 450), bool)},
    {"enable_gqa": True},
    {"width": 400},  # query, key and value outweigh the table
]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("settings", MEMORY_CASES, ids=lambda settings: "+".join(settings) or "plain")
def test_peak_memory_is_what_numpy_asks_for(settings, dtype):
    """Within 2 %: what is left out is one number per row, and Python's own objects."""
    rng = np.random.default_rng(0)
    query_heads, heads = (6, 2) if "enable_gqa" in settings else (1, 1)
    settings = dict(settings)
    E = settings.pop("width", 24)
    shapes = (query_heads, 400, E), (heads, 450, E), (heads, 450, E + 16)
    query, key, value = (ta.Tensor(rng.normal(size=s), dtype=dtype, requires_grad=True) for s in shapes)
    upstream = rng.normal(size=(query_heads, 400, E + 16)).astype(dtype)
    tracemalloc.start()
    try:
        steps = ta.attention_steps(query, key, value, **settings)
        forward = tracemalloc.get_traced_memory()[1]
        tracemalloc.reset_peak()
        steps.output.backward(upstream)
        backward = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    counts = {**settings, **({"attn_mask": settings["attn_mask"].shape} if "attn_mask" in settings else {})}
    ledger = attention_costs(*shapes, dtype=dtype, **counts)
    assert forward == pytest.approx(ledger.forward_peak, rel=0.02)
    assert backward == pytest.approx(ledger.peak, rel=0.02)


def test_building_a_window_takes_more_than_the_mask():
    L, S = 400, 450
    scaled = np.random.default_rng(0).normal(size=(L, S)).astype(np.float32)
    tracemalloc.start()
    try:
        ta.mask(scaled, ta.window_mask(L, S, 3, 5))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    _, scale, mask, *_ = attention_costs((L, 24), (S, 24), (S, 40), window=(3, 5)).forward
    assert peak == pytest.approx(mask.live - scale.live, rel=0.02)


@pytest.mark.parametrize(("L", "S"), [(5, 5), (3, 8), (8, 3), (1, 6), (0, 4), (4, 0)])
@pytest.mark.parametrize("align", ["upper-left", "lower-right"])
@pytest.mark.parametrize("is_causal", [False, True])
@pytest.mark.parametrize("window", [None, (0, 0), (2, 1), (None, 2), (3, None)])
def test_kept_pairs_are_those_of_the_masks(L, S, align, is_causal, window):
    keep = np.ones((L, S), bool)
    if is_causal:
        keep &= ta.causal_mask(L, S, align)
    if window is not None:
        keep &= ta.window_mask(L, S, *window, align=align)
    ledger = attention_costs((2, 3, L, 7), (2, 3, S, 7), (2, 3, S, 9), is_causal=is_causal, window=window, align=align)
    assert ledger.kept_pairs == 6 * keep.sum()
    assert ledger.pairs == 6 * L * S


def test_kept_pairs_in_closed_form():
    n = 37
    assert kept_pairs(n, n, None, 0) == n * (n + 1) // 2
    assert kept_pairs(n, n, 0, 0) == n
    assert kept_pairs(n, n, 4, 0) == 5 * n - 10


def test_doubling_the_length_quadruples_the_work_and_the_table():
    small, large = (attention_costs((3, n, 32), (3, n, 32), (3, n, 48)) for n in (500, 1000))
    assert large.flops == 4 * small.flops
    assert 3.5 < large.peak / small.peak < 4  # arrays of n rows only double
    wide = attention_costs((3, 500, 64), (3, 500, 64), (3, 500, 96))
    softmax_and_scale = 11 * 3 * 500 * 500
    assert wide.flops - softmax_and_scale == 2 * (small.flops - softmax_and_scale)


def test_shared_heads_cost_the_same_arithmetic_and_a_copy():
    grouped = attention_costs((6, 9, 8), (2, 11, 8), (2, 11, 10), enable_gqa=True)
    full = attention_costs((6, 9, 8), (6, 11, 8), (6, 11, 10))
    assert grouped.forward_flops == full.forward_flops
    assert grouped.forward[0].name == grouped.backward[-1].name == "repeat heads"
    assert grouped.forward[0].written == 4 * 6 * 11 * (8 + 10)
    # two additions for each key and value of a group of three
    assert grouped.backward[-1].flops == (6 - 2) * 11 * (8 + 10)
    assert grouped.backward[-1].written == 4 * 2 * 11 * (8 + 10)


def test_the_table_shows_every_step_and_the_sums():
    ledger = attention_costs((1, 1000, 64), (1, 1000, 64), (1, 1000, 64), is_causal=True)
    text = str(ledger)
    for step in ledger.forward:
        assert text.count(step.name) == 2  # forward and backward
    assert "128 M" in text  # 2 * 1000 * 1000 * 64
    assert "500,500 of 1,000,000 pairs may attend" in text
    assert len({len(line) for line in text.splitlines() if "MiB" in line and "sum" not in line}) == 1


@pytest.mark.parametrize(
    ("shapes", "settings"),
    [
        (((2, 5, 4), (2, 6, 3), (2, 6, 7)), {}),  # widths
        (((2, 5, 4), (2, 6, 4), (2, 5, 7)), {}),  # one value for each key
        (((2, 5, 4), (3, 6, 4), (3, 6, 7)), {}),  # heads
        (((4, 5, 4), (3, 6, 4), (3, 6, 7)), {"enable_gqa": True}),
        (((5, 4), (6, 4), (6, 7)), {"enable_gqa": True}),
        (((5,), (5,), (5,)), {}),
        (((2, 5, 0), (2, 6, 0), (2, 6, 7)), {}),
        (((2, 5, 4), (2, 6, 4), (2, 6, 7)), {"dtype": "int32"}),
        (((2, 5, 4), (2, 6, 4), (2, 6, 7)), {"align": "middle"}),
    ],
)
def test_shapes_that_do_not_fit_are_named(shapes, settings):
    with pytest.raises(ValueError, match="got") as error:
        attention_costs(*shapes, **settings)
    assert "\n" not in str(error.value)
