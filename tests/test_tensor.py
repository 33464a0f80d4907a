"""The tensor and its graph: what it holds, what backward does with it, and when it goes away."""

import asyncio
import contextvars
import copy
import gc
import pickle
import threading
import tracemalloc
import weakref

import numpy as np
import pytest

from tinyattn import Tensor, as_tensor, backend, exp, from_dlpack, no_grad, op, softmax


def leaf(data, **options):
    return Tensor(data, requires_grad=True, **options)


# --- what a tensor holds ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("data", [1.5, 3, True, [1, 2], [[1.0, 2], [3, 4]], (1.0,), [], np.float32(2), np.arange(3)])
def test_holds_what_numpy_would(data):
    t = Tensor(data)
    expected = np.array(data)
    assert isinstance(t.data, np.ndarray)
    assert (t.dtype, t.shape, t.ndim, t.size) == (expected.dtype, expected.shape, expected.ndim, expected.size)
    assert t.tolist() == expected.tolist()
    assert (t.device, t.requires_grad, t.grad) == ("cpu", False, None)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_arrays_keep_their_dtype_and_numbers_do_not_widen_them(dtype):
    t = leaf(np.ones(3, dtype))
    for result in (t * 2, 2.5 * t, t + np.float64(1), np.float64(3) / t, t**2, 2**t, t - np.int64(1), t * True, -t):
        assert isinstance(result, Tensor)
        assert result.dtype == dtype
    (np.float64(2) * t).sum().backward()
    assert t.grad.dtype == dtype


def test_dtype_converts_on_the_way_in():
    assert Tensor([1, 2], dtype=float).dtype == np.float64
    assert Tensor(np.ones(2), dtype="float16").dtype == np.float16
    assert as_tensor(Tensor([1, 2]), dtype="float32").dtype == np.float32
    assert Tensor(np.array([1, 2], ">f4")).dtype.isnative


def test_tensor_copies_and_as_tensor_shares():
    """D18."""
    source = np.ones(3)
    copied, shared = Tensor(source), as_tensor(source)
    source[0] = 5
    assert copied.tolist() == [1, 1, 1]
    assert shared.tolist() == [5, 1, 1]
    assert np.shares_memory(shared.data, source)
    assert np.shares_memory(shared.detach().data, source)
    assert np.shares_memory(shared.numpy(), source)
    assert not np.shares_memory(Tensor(shared).data, source)
    assert as_tensor(shared) is shared
    assert "shares" in as_tensor.__doc__
    assert "copied" in Tensor.__doc__


def test_a_tensor_of_tensors_is_a_tensor_of_their_numbers():
    assert Tensor([Tensor(1.0), Tensor(2.0)]).tolist() == [1, 2]
    with pytest.raises(TypeError, match=r"\.detach\(\)"):
        Tensor([leaf(1.0)])


BAD_DATA = [
    ([object()], TypeError, "float64, got object"),
    (None, TypeError, "float64, got object"),
    ("12", TypeError, "float64, got <U2"),
    ([1j], TypeError, "float64, got complex128"),
    (np.array(["2020-01-01"], "datetime64[D]"), TypeError, "float64, got datetime64"),
    (np.zeros(2, "f4,f4"), TypeError, "float64, got"),
    ([[1, 2], [3]], ValueError, "rows of equal length, got a ragged list"),
    (np.ma.array([1.0, 2], mask=[True, False]), TypeError, "MaskedArray"),
    ({"a": 1}, TypeError, "float64, got object"),
]


@pytest.mark.parametrize("make", [Tensor, as_tensor])
@pytest.mark.parametrize(("data", "error", "message"), BAD_DATA, ids=[str(x[0])[:12] for x in BAD_DATA])
def test_data_that_are_no_numbers(make, data, error, message):
    with pytest.raises(error, match=message) as raised:
        make(data)
    assert "\n" not in str(raised.value)


def test_wrong_dtypes_and_devices():
    with pytest.raises(
        TypeError, match="dtype must be bool, an integer type, float16, float32 or float64, got complex"
    ):
        Tensor([1.0], dtype=complex)
    with pytest.raises(ValueError, match="device must be 'cpu', 'cuda' or 'emulated', got 'gpu'"):
        Tensor([1.0], device="gpu")
    with pytest.raises(ValueError, match="got 'gpu'"):
        Tensor([1.0]).to("gpu")
    with pytest.raises(ValueError, match="add needs all tensors on one device, got 'cpu' and 'emulated'"):
        Tensor([1.0]) + Tensor([1.0], device="emulated")


@pytest.mark.parametrize("data", [[1, 2], [True], np.arange(3, dtype=np.uint8)])
def test_gradients_are_for_floats_only(data):
    """D19."""
    with pytest.raises(TypeError, match="only floating-point tensors have gradients, got dtype"):
        leaf(data)
    assert leaf(data, dtype=float).requires_grad


def test_one_element_as_a_number():
    assert Tensor([[2.5]]).item() == float(Tensor(2.5)) == 2.5
    assert int(Tensor([3])) == 3
    assert type(Tensor(np.float32(2)).item()) is float
    assert bool(Tensor([0.0])) is False
    for convert in (Tensor.item, bool, float, int):
        with pytest.raises(ValueError, match=r"needs a tensor of one element, got shape \(2,\)"):
            convert(Tensor([1.0, 2]))


def test_repr_says_what_differs_from_the_usual():
    assert repr(Tensor([1.0, 2])) == "Tensor([1., 2.])"
    assert repr(leaf(np.float32(2))) == "Tensor(2.0, dtype=float32, requires_grad=True)"
    assert "device='emulated'" in repr(Tensor([1.0], device="emulated"))
    assert f"{Tensor(1.23456):.2f}" == "1.23"
    assert f"{Tensor([1.0])}" == "Tensor([1.])"


def test_copies_and_pickles_are_leaves_of_their_own():
    a = leaf(np.float32([1, 2]))
    for b in (copy.copy(a), copy.deepcopy(a), pickle.loads(pickle.dumps(a))):
        assert (b.dtype, b.requires_grad, b.tolist()) == (np.float32, True, [1, 2])
        a.zero_grad()
        (a * b).sum().backward()
        assert a.grad.tolist() == b.grad.tolist() == [1, 2]
        assert not np.shares_memory(a.data, b.data)
    with pytest.raises(TypeError, match=r"only a leaf can be copied .* use tensor\.detach\(\)"):
        copy.deepcopy(a * 2)


# --- backward --------------------------------------------------------------------------------------------------------


def test_a_second_backward_adds_the_same_again():
    """D17."""
    x = leaf([1.0, 2])
    y = (x * x).sum()
    y.backward()
    once = x.grad.copy()
    y.backward()
    assert x.grad.tolist() == (2 * once).tolist() == [4, 8]
    x.zero_grad()
    assert x.grad is None
    y.backward()
    assert x.grad.tolist() == once.tolist()


def test_leaves_collect_from_several_results():
    x = leaf([1.0, 2])
    (x * 3).sum().backward()
    (x * x).sum().backward()
    assert x.grad.tolist() == [5, 7]


def test_a_part_of_the_graph_is_walked_again_with_what_is_new_only():
    """A second loss through a shared inner node must not see the first one's gradient."""
    x = leaf(2.0)
    inner = x * x
    (inner * 3).backward()
    (inner * 5).backward()
    assert x.grad == 4 * (3 + 5)


@pytest.mark.parametrize("shape", [(), (1,), (1, 1, 1)])
def test_one_element_needs_no_upstream_gradient(shape):
    """D15."""
    x = leaf(np.full(shape, 3.0))
    (x * x).backward()
    assert x.grad.shape == shape
    assert isinstance(x.grad, np.ndarray)
    assert x.grad.item() == 6


@pytest.mark.parametrize("shape", [(2,), (0,), (1, 3)])
def test_more_elements_do(shape):
    """D15."""
    x = leaf(np.ones(shape))
    with pytest.raises(ValueError, match="without a gradient needs a result of one element, got shape"):
        (x * x).backward()
    assert x.grad is None


def test_upstream_gradients_of_any_real_kind():
    for upstream in ([1, 2], np.array([1.0, 2]), Tensor([1.0, 2]), np.array([1, 2], np.float16)):
        x = leaf(np.float32([1, 1]))
        (x * 3).backward(upstream)
        assert x.grad.dtype == np.float32
        assert x.grad.tolist() == [3, 6]


def test_a_wrong_upstream_gradient():
    x = leaf([1.0, 2])
    with pytest.raises(ValueError, match=r"grad of the result's shape \(2,\), got \(1, 2\)"):
        (x * x).backward([[1.0, 2]])
    with pytest.raises(TypeError, match="float64, got complex128"):
        (x * x).backward([1j, 2])
    with pytest.raises(TypeError, match="object"):
        (x * x).backward(np.array([None, 2]))
    with pytest.raises(ValueError, match="depends on one with requires_grad=True, this one does not"):
        Tensor([1.0]).backward()
    assert x.grad is None


def test_the_callers_upstream_array_is_its_own():
    x = leaf([1.0, 2])
    upstream = np.ones(2)
    x.backward(upstream)
    upstream[:] = 7
    assert x.grad.tolist() == [1, 1]


def test_gradients_of_one_sum_do_not_share_memory():
    a, b = leaf([1.0, 2]), leaf([3.0, 4])
    (a + b).backward(np.ones(2))
    a.grad += 10
    assert b.grad.tolist() == [1, 1]


@pytest.mark.parametrize(
    "rule",
    [
        lambda grad, mine: mine,
        lambda grad, mine: mine[:],
        lambda grad, mine: mine.reshape(1, 2)[0],
        lambda grad, _: grad,
    ],
    ids=["its own", "a view of its own", "reshaped", "what it was given"],
)
def test_a_gradient_is_no_array_that_somebody_else_still_has(rule):
    mine, given = np.full(2, 5.0), []

    @op
    def careless(x, y):
        def vjp(grad):
            given.append(grad)
            return rule(grad, mine), rule(grad, mine)

        return x + y, vjp

    x, y = leaf([1.0, 2]), leaf([3.0, 4])
    upstream = np.full(2, 5.0)
    careless(x, y).backward(upstream)
    x.grad += 10
    for other in (y.grad, mine, upstream, *given):
        assert other.tolist() == [5, 5]


def test_a_gradient_that_nobody_else_has_is_not_copied():
    places = []

    @op
    def fresh(x):
        def vjp(grad):
            made = np.full(2, 5.0)
            places.append(made.ctypes.data)
            return (made,)

        return x.copy(), vjp

    x = leaf([1.0, 2])
    fresh(x).backward(np.ones(2))
    assert x.grad.ctypes.data == places[0]
    fresh(x).backward(np.ones(2))
    assert x.grad.tolist() == [10, 10]


def test_a_backward_that_fails_writes_nothing():
    @op
    def broken(x):
        def vjp(grad):
            raise ArithmeticError("no gradient today")

        return x * 1, vjp

    x = leaf([1.0, 2])
    kept = (x * 2).retain_grad()
    x.grad = before = np.array([7.0, 7])
    with pytest.raises(ArithmeticError, match="no gradient today"):
        (kept + broken(x)).sum().backward()
    assert x.grad is before
    assert x.grad.tolist() == [7, 7]
    assert kept.grad is None


def test_retained_gradients():
    x = leaf([1.0, 2])
    y = (x * 2).retain_grad()
    z = y * 3
    (z * z).sum().backward()
    assert y.grad.tolist() == [36, 72]
    assert z.grad is None
    y.grad[:] = 0
    assert x.grad.tolist() == [72, 144]
    (z * z).sum().backward()
    assert y.grad.tolist() == [36, 72]


def test_detach_cuts():
    x = leaf([1.0, 2])
    y = x * 2
    (y.detach() * x).sum().backward()
    assert x.grad.tolist() == [2, 4]
    assert not y.detach().requires_grad


def test_integers_in_between_stop_the_gradient_and_say_so():
    x = leaf([1.0, 2])
    with pytest.raises(ValueError, match="does not"):
        x.astype(int).sum().backward()


def test_chain_of_20000_ops_backpropagates_and_is_freed():
    x = leaf(np.ones(2))
    y = x
    for _ in range(20_000):
        y = y + 1
    y.sum().backward()
    assert x.grad.tolist() == [1, 1]
    first = weakref.ref(y)
    del y
    assert first() is None


def test_deep_graphs_of_every_shape_are_freed():
    """A chain through both inputs, through a reused leaf, and through one op with many inputs."""
    x = leaf(1.0)
    doubled, ladder = x, x
    for _ in range(1000):
        doubled = doubled * 0.5 + doubled * 0.5
    for _ in range(20_000):
        ladder = ladder + x
    wide = sum([x] * 5_000)
    for y, slope in ((doubled, 1), (ladder, 20_001), (wide, 5_000)):
        x.zero_grad()
        y.backward()
        assert x.grad == slope
    ends = [weakref.ref(y) for y in (doubled, ladder, wide)]
    del doubled, ladder, wide, y
    assert [end() for end in ends] == [None] * 3


def test_a_graph_is_freed_without_the_garbage_collector():
    """No reference cycles: memory goes back when the last name of the loss goes."""
    gc.collect()
    gc.disable()
    try:
        x = leaf(np.ones((4, 3)))
        hidden = softmax(exp(x) @ np.ones((3, 5)))
        loss = hidden.sum()
        loss.backward()
        refs = [weakref.ref(hidden), weakref.ref(loss)]
        del hidden, loss
        assert [ref() for ref in refs] == [None, None]
    finally:
        gc.enable()


def test_memory_stays_flat_over_many_steps():
    x = leaf(np.ones((50, 40)))

    def step():
        x.zero_grad()
        loss = (softmax(x * 2.0) * x).sum()
        loss.backward()

    tracemalloc.start()
    try:
        for _ in range(3):
            step()
        before = tracemalloc.get_traced_memory()[0]
        for _ in range(100):
            step()
        grown = tracemalloc.get_traced_memory()[0] - before
    finally:
        tracemalloc.stop()
    assert grown < 10 * x.data.nbytes  # a step that left one array behind would add 100; Python's own lists add one


def test_no_second_derivatives():
    """D10."""
    x = leaf(2.0)
    y = x * x * x
    for call in (lambda: y.backward(create_graph=True), lambda: y.backward(leaf(1.0))):
        with pytest.raises(NotImplementedError, match="first derivatives only"):
            call()
    y.backward()
    assert isinstance(x.grad, np.ndarray)


# --- no_grad ---------------------------------------------------------------------------------------------------------


def test_no_grad_leaves_no_graph():
    x = leaf([1.0, 2])
    with no_grad():
        y = x * 2
        kept = weakref.ref(y)
        z = y.sum()
        del y
        assert kept() is None
        with no_grad():
            pass
        assert not (x * 2).requires_grad
    assert not z.requires_grad
    assert (x * 2).requires_grad


def test_one_no_grad_may_be_entered_again():
    x, quiet = leaf(1.0), no_grad()
    with quiet:
        with quiet:
            assert not (x * 2).requires_grad
        assert not (x * 2).requires_grad
    assert (x * 2).requires_grad
    with quiet:
        assert not (x * 2).requires_grad


def test_no_grad_ends_with_an_exception_too():
    x = leaf(1.0)
    with pytest.raises(KeyError), no_grad():
        raise KeyError
    assert (x * 2).requires_grad


def test_no_grad_as_a_decorator():
    @no_grad()
    def double(x):
        """Twice."""
        return x * 2

    x = leaf(1.0)
    assert not double(x).requires_grad
    assert double.__name__ == "double"
    assert (x * 2).requires_grad


def test_no_grad_of_one_thread_is_not_anothers():
    x = leaf(1.0)
    inside, checked = threading.Event(), threading.Event()
    seen = []

    def quiet():
        with no_grad():
            inside.set()
            checked.wait(10)
            seen.append((x * 2).requires_grad)

    other = threading.Thread(target=quiet)
    other.start()
    inside.wait(10)
    seen.append((x * 2).requires_grad)
    checked.set()
    other.join()
    assert seen == [True, False]


def test_no_grad_of_one_task_is_not_anothers():
    x = leaf(1.0)

    async def quiet(turn):
        with no_grad():
            turn.set()
            await asyncio.sleep(0)
            return (x * 2).requires_grad

    async def both():
        turn = asyncio.Event()
        task = asyncio.create_task(quiet(turn))
        await turn.wait()
        return (x * 2).requires_grad, await task

    assert asyncio.run(both()) == (True, False)
    with no_grad():
        assert contextvars.copy_context().run(lambda: (x * 2).requires_grad) is False


def test_threads_build_and_walk_graphs_at_once():
    shared = leaf(np.ones(3))
    failures = []

    def work(seed):
        x = leaf(np.random.default_rng(seed).normal(size=3))
        for _ in range(20):
            x.zero_grad()
            y = x
            for _ in range(20):
                y = (y * shared.detach()).tanh()
            y.sum().backward()
        expected = np.ones(3)
        value = x.data
        for _ in range(20):
            value = np.tanh(value)
            expected = expected * (1 - value**2)
        if not np.allclose(x.grad, expected, rtol=1e-12):
            failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


# --- ops of one's own ------------------------------------------------------------------------------------------------


def test_an_op_in_both_forms():
    @op
    def square(x):
        return x * x, lambda grad: (2 * x * grad,)

    @op
    def product(a, b):
        return a * b, (lambda grad: grad * b, lambda grad: grad * a)

    x = leaf([1.0, 2])
    product(square(x), x).backward(np.ones(2))
    assert x.grad.tolist() == [3, 12]
    assert square.forward(np.array([3.0]))[0].tolist() == [9]


def test_only_the_rules_that_are_needed_are_called_and_each_once():
    calls = []

    @op
    def product(a, b):
        return a * b, (lambda grad: calls.append("a") or grad * b, lambda grad: calls.append("b") or grad * a)

    x = leaf(2.0)
    y = product(x, 3.0)
    (y + y * y).backward()
    assert calls == ["a"]
    assert x.grad == 3 * (1 + 2 * 6)


def test_an_ops_view_of_its_gradient_is_not_mixed_up():
    """Rules may return the very array that they were given; sums must not be made in place in it."""

    @op
    def same(x):
        return x.copy(), lambda grad: (grad,)

    x = leaf(np.ones(3))
    a = same(x).retain_grad()
    b, c = same(a).retain_grad(), same(a).retain_grad()
    (b + c + a).sum().backward()
    assert b.grad.tolist() == c.grad.tolist() == [1, 1, 1]
    assert a.grad.tolist() == x.grad.tolist() == [3, 3, 3]


WRONG_OPS = [
    (lambda x: x * 2, TypeError, r"wrong must return a pair \(output, vjp\), got an array of shape \(3,\)"),
    (lambda x: (x, None, None), TypeError, r"pair \(output, vjp\), got tuple of 3"),
    (lambda x: (x, lambda grad: None), ValueError, "vjp of wrong must give a tuple of 1, .* got NoneType"),
    (lambda x: (x, lambda grad: grad), ValueError, r"must give a tuple of 1, .* got an array of shape \(3,\)"),
    (lambda x: (x, lambda grad: (grad, grad)), ValueError, "must give a tuple of 1, .* got tuple of 2"),
    (lambda x: (x, (None,)), ValueError, r"gave None for an input of shape \(3,\) that requires a gradient"),
    (lambda x: (x, lambda grad: (None,)), ValueError, r"gave None for an input of shape \(3,\)"),
    (lambda x: (x, lambda grad: (grad[:2],)), ValueError, r"gradient of shape \(2,\) for an input of shape \(3,\)"),
    (lambda x: (x, lambda grad: (grad.sum(),)), ValueError, r"gradient of shape \(\) for an input of shape \(3,\)"),
]


@pytest.mark.parametrize(("forward", "error", "message"), WRONG_OPS, ids=range(len(WRONG_OPS)))
def test_an_op_that_is_wrong_is_named(forward, error, message):
    def wrong(x):
        return forward(x)

    x = leaf([1.0, 2, 3])
    with pytest.raises(error, match=message):
        op(wrong)(x).backward(np.ones(3))
    assert x.grad is None


def test_none_is_an_input_where_it_is_the_default():
    @op
    def shifted(x, shift=None):
        return (x if shift is None else x + shift), lambda grad: (grad, None if shift is None else grad)

    x = leaf([1.0])
    shifted(x, None).backward()
    assert x.grad.tolist() == [1]
    with pytest.raises(TypeError, match="exp works on tensors, arrays and numbers, got NoneType"):
        exp(None)


# --- other libraries, other devices ----------------------------------------------------------------------------------


def test_dlpack_shares_memory_both_ways():
    source = np.ones(3, np.float32)
    t = from_dlpack(source)
    assert np.shares_memory(t.data, source)
    assert np.shares_memory(np.from_dlpack(as_tensor(source)), source)
    with pytest.raises(TypeError, match="needs an array that offers __dlpack__, got list"):
        from_dlpack([1.0])


def test_moving_keeps_the_gradient(device):
    x = leaf([1.0, 2])
    moved = x.to(device)
    assert moved.device == device
    (moved * moved).sum().backward()
    assert isinstance(x.grad, np.ndarray)
    assert x.grad.tolist() == [2, 4]
    assert moved.numpy().tolist() == [1, 2]
    on_device = leaf([1.0, 2], device=device)
    (on_device * 2).sum().backward()
    assert type(on_device.grad) is type(on_device.data)
    assert (on_device * 2).device == on_device.detach().device == device


def test_cuda_without_cupy_or_without_a_gpu_says_what_to_do():
    try:
        backend.import_cupy()
    except RuntimeError:
        with pytest.raises(RuntimeError, match="device 'cuda' needs") as raised:
            Tensor([1.0], device="cuda")
        assert "'emulated'" in str(raised.value)
        assert "\n" not in str(raised.value)
    else:
        pytest.skip("this machine has a GPU that works")
