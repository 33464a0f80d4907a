"""Bug reports of other projects about automatic differentiation and NumPy's protocols, as tests named after their id.

Numbers were derived by hand or by finite differences; none is copied from this engine's output.
"""

import math
import warnings
import weakref

import numpy as np
import pytest

import tinyattn
from tinyattn import (
    Tensor,
    as_tensor,
    broadcast_to,
    clip,
    entropy,
    exp,
    gradcheck,
    log,
    matmul,
    nn,
    no_grad,
    normalize,
    ops,
    power,
    relu,
    sqrt,
    stack,
    take,
    where,
)


def leaf(data, **options):
    return Tensor(data, requires_grad=True, **options)


def gradients(function, *arrays, upstream=None):
    leaves = [leaf(np.asarray(x, float)) for x in arrays]
    output = function(*leaves)
    output.backward(np.ones(output.shape) if upstream is None else upstream)
    return [x.grad for x in leaves]


# --- shapes ----------------------------------------------------------------------------------------------------------

BROADCASTS = [
    ((1,), (5, 4)), ((4, 1), (1, 4)), ((2, 1, 4, 64), (2, 1, 4, 1)), ((), (2, 3)), ((3,), (2, 3)), ((2, 1), (3,)),
    ((1, 1), ()), ((1, 3, 1), (2, 1, 4)), ((0,), (1,)), ((3, 0), (1, 1)), ((1,), ()),
]  # fmt: skip
BINARY = [ops.add, ops.subtract, ops.multiply, ops.divide, ops.power, ops.maximum, ops.minimum]


@pytest.mark.parametrize(("a", "b"), BROADCASTS, ids=str)
@pytest.mark.parametrize("function", BINARY, ids=lambda f: f.__name__)
def test_SHP_01_broadcast_axes_are_summed(function, a, b, rng):
    x, y = rng.random(a) + 0.5, rng.random(b) + 0.5
    for left, right in ((x, y), (y, x)):
        shape = np.broadcast_shapes(a, b)
        ours = gradients(function, left, right)
        full = gradients(function, np.broadcast_to(left, shape), np.broadcast_to(right, shape))
        for gradient, wide, given in zip(ours, full, (left, right), strict=True):
            assert gradient.shape == given.shape
            padded = (1,) * (len(shape) - given.ndim) + given.shape
            stretched = tuple(i for i, n in enumerate(shape) if padded[i] != n)
            expected = wide.sum(axis=stretched, keepdims=True).reshape(given.shape)
            np.testing.assert_allclose(gradient, expected, rtol=1e-12)


def test_SHP_01_where_sums_too(rng):
    condition = rng.random((2, 3, 4)) < 0.5
    a, b = gradients(lambda a, b: where(condition, a, b), rng.normal(size=(3, 1)), rng.normal(size=()))
    np.testing.assert_array_equal(a, condition.sum((0, 2)).reshape(3, 1))
    np.testing.assert_array_equal(b, (~condition).sum())


def test_SHP_02_products_over_axes_of_length_one_give_whole_gradients():
    """einsum('i,i', [2, 2], [2]) as what it means here: a broadcast product, and matmul with its batch of one."""
    x, y = gradients(lambda a, b: (a * b).sum(), [2, 2], [2])
    assert (x.tolist(), y.tolist()) == ([2, 2], [4])
    a, b = gradients(matmul, np.ones((3, 2, 4)), np.ones((1, 4, 5)))
    assert (a.shape, b.shape) == ((3, 2, 4), (1, 4, 5))
    assert (a == 5).all()
    assert (b == 6).all()


def test_SHP_03_broadcast_to_has_a_gradient():
    assert gradients(lambda x: broadcast_to(x, (4, 3)), [1, 2, 3])[0].tolist() == [4, 4, 4]
    assert gradients(lambda x: broadcast_to(x, (2, 3, 4)), np.ones((3, 1)))[0].tolist() == [[8], [8], [8]]
    assert gradients(lambda x: broadcast_to(x, (2, 3)), 1.0)[0].tolist() == 6


def test_SHP_04_vectors_in_products():
    A, b, upstream = [[1.0, 2], [3, 4], [5, 6]], [10.0, 20], np.array([1.0, -1, 2])
    dA, db = gradients(matmul, A, b, upstream=upstream)
    assert dA.tolist() == [[10, 20], [-10, -20], [20, 40]]
    assert db.tolist() == [8, 10]
    du, dA = gradients(matmul, upstream, A, upstream=np.array(b))
    assert du.tolist() == [50, 110, 170]
    assert dA.tolist() == np.outer(upstream, b).tolist()
    da, db = gradients(matmul, [1, 2, 3], [4, 5, 6], upstream=2.0)
    assert (da.tolist(), db.tolist()) == ([8, 10, 12], [2, 4, 6])


RANKS = [
    ((3,), (3,)), ((3,), (3, 2)), ((4, 3), (3,)), ((4, 3), (3, 2)), ((3,), (5, 3, 2)), ((5, 4, 3), (3,)),
    ((5, 4, 3), (3, 2)), ((4, 3), (5, 3, 2)), ((5, 1, 4, 3), (6, 3, 2)), ((1, 4, 3), (5, 3, 1)), ((1, 1), (1,)),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b"), RANKS, ids=str)
def test_SHP_04_matmul_of_every_rank(a, b, rng):
    x, y = rng.normal(size=a), rng.normal(size=b)
    np.testing.assert_allclose((Tensor(x) @ y).data, x @ y, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose((x @ Tensor(y)).data, x @ y, rtol=1e-12, atol=1e-14)
    assert gradcheck(matmul, x, y)


def test_SHP_06_repeated_indices_add_up():
    assert gradients(lambda x: x[[0, 0]], [0.1], upstream=[0.2, 0.3])[0] == pytest.approx([0.5], rel=1e-15)
    ids = np.array([[2, 0, 2], [2, 2, 1]])
    for function in (lambda x: x[ids], lambda x: take(x, ids), lambda x: x[Tensor(ids)], lambda x: x[ids.tolist()]):
        assert gradients(function, [1, 2, 3])[0].tolist() == [1, 1, 4]
    assert gradients(lambda x: x[ids[0], ids[1]], np.zeros((3, 3)))[0].tolist() == [[0, 0, 1], [0, 0, 0], [0, 1, 1]]


def test_SHP_06_an_index_that_changes_before_backward():
    ids = np.array([0, 1])
    x = leaf([1.0, 2, 3])
    y = x[ids]
    ids[:] = 2
    y.sum().backward()
    assert x.grad.tolist() == [1, 1, 0]


def test_SHP_08_reshape_of_a_repeated_axis():
    reshaped = lambda x: broadcast_to(x, (2, 2)).reshape(4)  # noqa: E731
    assert gradients(reshaped, [[1, 2]], upstream=[1, 2, 3, 4])[0].tolist() == [[4, 6]]
    assert gradients(lambda x: broadcast_to(x, (3, 2)).T.reshape(-1)[::2], [[1, 2]])[0].tolist() == [[2, 1]]


def test_SHP_11_a_scalars_gradient_is_an_array():
    for dtype in (np.float16, np.float32, np.float64):
        x = leaf(dtype(2))
        (x * np.ones(3, dtype)).sum().backward()
        (x * x + x).backward()
        x_again = leaf(dtype(2))
        (x_again * x_again).backward()
        for t, expected in ((x, 3 + 5), (x_again, 4)):
            assert isinstance(t.grad, np.ndarray)
            assert (t.grad.shape, t.grad.dtype, t.grad.item()) == ((), dtype, expected)


def test_SHP_12_slices_put_their_gradient_back():
    assert gradients(lambda x: x[::-1][:2], [1, 2, 3, 4], upstream=[1, 2])[0].tolist() == [0, 0, 2, 1]
    assert gradients(lambda x: x[1:3] * x[:2], [1, 2, 3])[0].tolist() == [2, 4, 2]
    parts = lambda x: stack([part for part in x], axis=1)  # noqa: E731, C416
    upstream = np.arange(6.0).reshape(3, 2)
    assert gradients(parts, np.zeros((2, 3)), upstream=upstream)[0].tolist() == upstream.T.tolist()
    for index in (
        0,
        -1,
        slice(None, None, -2),
        (..., 1),
        (None, 2),
        (slice(1, 1),),
        np.array([True, False, True, False]),
    ):
        x = np.arange(8.0).reshape(4, 2)
        expected = np.zeros((4, 2))
        expected[index] = 1
        np.testing.assert_array_equal(gradients(lambda t, i=index: t[i], x)[0], expected)


def test_SHP_13_one_element_of_any_shape_needs_no_upstream():
    """D15."""
    for shape in ((1,), (), (1, 1)):
        x = leaf(np.full(shape, 2.0))
        (x * 3).backward()
        assert x.grad.shape == shape
    with pytest.raises(ValueError, match=r"needs a result of one element, got shape \(3,\): reduce it with \.sum\(\)"):
        leaf(np.ones(3)).backward()
    assert "one element" in Tensor.backward.__doc__


# --- singular points -------------------------------------------------------------------------------------------------


def test_SNG_01_where_with_a_harmless_input_for_the_other_branch():
    assert gradients(lambda x: where(x < 1, x, sqrt(where(x < 1, 1, x))), [0, 4])[0].tolist() == [1, 0.25]
    assert "keep the *input* of the other branch harmless" in " ".join(ops.__doc__.split())


def test_SNG_02_sqrt_at_zero_follows_the_formula_and_normalize_does_not():
    """D16: sqrt promises inf or NaN at 0; the function that normalises gives 0."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert gradients(sqrt, [0.0])[0].tolist() == [math.inf]
    assert gradients(normalize, [0.0, 0])[0].tolist() == [0, 0]
    assert "sqrt and log at 0 follow the formula" in ops.__doc__


def test_SNG_05_powers_at_zero():
    for exponent, slope in ((0, 0), (1, 1), (2, 0), (3, 0), (0.0, 0), (1.0, 1), (2.0, 0)):
        assert gradients(lambda x, e=exponent: x**e, [0.0])[0].tolist() == [slope]
        assert gradients(lambda x, e=exponent: x ** np.array([e]), [0.0])[0].tolist() == [slope]
    assert gradients(lambda x: exp(-(x**2)), [0.0])[0].tolist() == [0]


def test_SNG_06_the_exponents_derivative_at_base_zero():
    assert gradients(lambda e: power(np.array([0.0, 2]), e), [1, 1])[0] == pytest.approx(
        [0, 2 * math.log(2)], rel=1e-14
    )
    base, exponent = gradients(power, [0.0, 0, 2], [2, 0, 3])
    assert base.tolist() == [0, 0, 12]
    assert exponent == pytest.approx([0, 0, 8 * math.log(2)], rel=1e-14)
    with np.errstate(all="ignore"):
        assert gradients(lambda e: power(np.array([0.0]), e), [-1.0])[0].tolist() == [-math.inf]


def test_SNG_08_the_derivative_of_an_exponential():
    for base in (2, 2.0, np.float64(2), np.array(2.0), as_tensor(2.0)):
        assert gradients(lambda x, b=base: power(b, x), 3.0)[0] == pytest.approx(8 * math.log(2), rel=1e-14)
    assert gradients(lambda x: 2**x, 3.0)[0] == pytest.approx(5.545177, abs=5e-7)


def test_SNG_09_entropy_with_a_zero_weight():
    x = leaf([1.0, 0, -math.inf])
    h = entropy(x)
    h.backward()
    assert h.item() == pytest.approx(0.582203, abs=5e-7)
    np.testing.assert_allclose(x.grad, [-0.196612, 0.196612, 0], atol=5e-7)
    assert entropy([0.0] * 8).item() == pytest.approx(math.log(8), rel=1e-14)
    assert entropy([-math.inf, 3.0]).item() == 0
    assert entropy([-math.inf] * 2).item() <= 0


def test_SNG_10_the_length_of_a_zero_vector():
    """D16: written out it is NaN, as the formula says; normalize has gradient 0."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert np.isnan(gradients(lambda x: sqrt((x * x).sum()), np.zeros(3))[0]).all()
    for eps in (1e-12, 1e-6):
        assert gradients(lambda x, e=eps: normalize(x, eps=e), np.zeros((2, 3)))[0].tolist() == [[0] * 3] * 2
    tiny = np.array([3e-9, 4e-9])  # below eps the divisor is eps, a constant
    assert gradients(lambda x: normalize(x, eps=1e-6), tiny)[0] == pytest.approx([1e6, 1e6], rel=1e-12)


def test_SNG_12_kinks_and_bounds():
    assert gradients(ops.abs, [0.0, -2, 2])[0].tolist() == [0, -1, 1]
    assert gradients(relu, [0.0, -2, 2])[0].tolist() == [0, 0, 1]
    assert gradients(lambda x: clip(x, -1, 1), [-1.5, -1, 0, 1, 1.5])[0].tolist() == [0, 1, 1, 1, 0]
    for kind in ("abs", "relu", "clip"):
        assert kind in ops.__doc__


def test_SNG_13_layer_norm_then_a_plain_sum_has_no_gradient(rng):
    x, upstream = rng.normal(size=(2, 5)), rng.normal(size=(2, 5))
    norm = lambda t: nn.layer_norm(t, np.ones(5), np.zeros(5))  # noqa: E731
    np.testing.assert_allclose(gradients(norm, x)[0], 0, atol=1e-12)
    assert np.abs(gradients(norm, x, upstream=upstream)[0]).max() > 0.1
    assert gradcheck(norm, x)


# --- the engine ------------------------------------------------------------------------------------------------------


def test_ENG_01_a_reused_inner_node():
    a = leaf(1.0)
    b = a + a
    c = b + b
    c.backward()
    assert (c.item(), a.grad.item()) == (4, 4)


def test_ENG_02_a_diamond():
    a, b = leaf(2.0), leaf(3.0)
    c, d = a + b, a * b
    y = (c + d) + (c * d)
    y.backward()
    assert (y.item(), a.grad.item(), b.grad.item()) == (41, 25, 19)


def test_ENG_02_diamonds_in_every_order(rng):
    """Random graphs in which nodes are reused, against the same arithmetic in dual numbers."""
    for _ in range(20):
        value, slope = rng.normal(), 1.0
        x = leaf(value)
        nodes = [(x, value, slope)]
        for _ in range(30):
            (a, va, sa), (b, vb, sb) = (nodes[i] for i in rng.integers(len(nodes), size=2))
            if rng.random() < 0.5:
                nodes.append((a * b * 0.5, va * vb * 0.5, 0.5 * (sa * vb + va * sb)))
            else:
                nodes.append((a - b, va - vb, sa - sb))
        y, _, expected = nodes[-1]
        if y.requires_grad:
            y.backward()
            np.testing.assert_allclose(x.grad, expected, rtol=1e-9, atol=1e-9)


def test_ENG_03_depth_is_no_limit():
    x = leaf(1.0)
    y = x
    for _ in range(20_000):
        y = y + 1
    y.backward()
    assert x.grad.item() == 1
    end = weakref.ref(y)
    del y
    assert end() is None


def test_ENG_06_a_tensor_has_its_own_memory():
    """D18."""
    x = np.ones(3)
    t = leaf(x)
    y = (t * t).sum()
    x[:] = 5
    y.backward()
    assert t.grad.tolist() == [2, 2, 2]
    assert "copied; `as_tensor` shares" in Tensor.__doc__


def test_ENG_08_no_grad_does_not_decorate_what_pauses():
    def items():
        yield 1

    async def later():
        return 1

    async def later_items():
        yield 1

    for function in (items, later, later_items):
        with pytest.raises(TypeError, match=f"no_grad cannot decorate the generator {function.__name__}"):
            no_grad()(function)

    def quiet_inside():
        for i in range(3):
            with no_grad():
                y = leaf(1.0) * 2
            yield i, y.requires_grad

    paused = quiet_inside()
    assert next(paused) == (0, False)
    assert (leaf(1.0) * 2).requires_grad


def test_ENG_10_tensors_are_told_apart_by_identity():
    a, b = leaf(2.0), leaf(2.0)
    (a * b).backward()
    assert (a.grad.item(), b.grad.item()) == (2, 2)
    assert len({a, b, a}) == 2
    assert {a: "a", b: "b"}[b] == "b"
    c, d = leaf([2.0, 2]), leaf([2.0, 2])
    assert len({c, d}) == 2
    assert (c == d).tolist() == [True, True]
    assert c in {c}


def test_ENG_12_iteration_ends():
    assert [t.item() for t in Tensor([1.0, 2, 3])] == [1, 2, 3]
    assert [t.shape for t in Tensor(np.ones((2, 3)))] == [(3,), (3,)]
    assert list(Tensor(np.ones((0, 3)))) == []
    assert len(Tensor(np.ones((2, 3)))) == 2
    for call in (iter, len, list):
        with pytest.raises(TypeError, match=r"a tensor of shape \(\)"):
            call(Tensor(1.0))


def test_ENG_13_integers_have_no_gradient():
    """D19."""
    for data in ([1, 2, 3], [True, False], np.arange(3, dtype=np.int8)):
        with pytest.raises(TypeError, match="only floating-point tensors have gradients, got dtype"):
            leaf(data)
    t = leaf([1.0, 3, 2])
    for result in (t.argmax(), t.argmax(axis=0), t > 1, t == t, t.astype(int), t.astype(bool)):
        assert not result.requires_grad
        assert result.dtype.kind in "bi"
    assert t.argmax().item() == 1


def test_ENG_15_memory_does_not_grow_with_steps():
    """D10: with no second derivatives, a gradient keeps no graph alive."""
    x = leaf(np.ones(3))
    y = (x * x).sum()
    y.backward()
    end = weakref.ref(y)
    del y
    assert end() is None
    assert isinstance(x.grad, np.ndarray)
    with pytest.raises(NotImplementedError, match="first derivatives only"):
        (x * x).sum().backward(create_graph=True)


# --- NumPy's protocols -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "left", [np.ones(2), np.float32(1), np.float64(1), np.int64(1), np.array(1.0), np.ones((3, 1))]
)
def test_DSP_01_numpy_on_the_left_leaves_the_operation_to_the_tensor(left):
    for function, slope in (
        (lambda a, t: a * t, 1), (lambda a, t: a + t, 1), (lambda a, t: a - t, -1), (lambda a, t: a / t, -1 / 4),
        (lambda a, t: a**t, 0),
    ):  # fmt: skip
        t = leaf([2.0, 2])
        result = function(left, t)
        assert isinstance(result, Tensor)
        assert result.dtype == np.float64
        result.sum().backward()
        np.testing.assert_allclose(t.grad, slope * max(1, np.size(left) // 2 if np.ndim(left) < 2 else 3), rtol=1e-14)


def test_DSP_01_matrix_products_and_in_place_ones():
    t = leaf([1.0, 2])
    product = np.eye(2) @ t
    assert isinstance(product, Tensor)
    product.backward(np.ones(2))
    assert t.grad.tolist() == [1, 1]
    a = np.ones(2)
    with pytest.raises(TypeError, match="does not support ufuncs"):
        a += t
    b = t
    b *= 2
    assert (t.tolist(), b.tolist()) == ([1, 2], [2, 4])
    for ufunc in (np.exp, np.sqrt, lambda x: np.add(x, 1)):
        with pytest.raises(TypeError, match="does not support ufuncs"):
            ufunc(t)


def test_DSP_03_the_builtin_sum_starts_from_zero():
    parts = [leaf(1.0), leaf(2.0), leaf(3.0)]
    total = sum(parts)
    total.backward()
    assert total.item() == 6
    assert [p.grad.item() for p in parts] == [1, 1, 1]


def test_DSP_04_numbers_on_the_left():
    for function, value, slope in (
        (lambda t: 6 - t, 3, -1), (lambda t: 6 / t, 2, -2 / 3), (lambda t: 2**t, 8, 8 * math.log(2)),
        (lambda t: 6 + t, 9, 1), (lambda t: 6 * t, 18, 6), (lambda t: 6.0 - t, 3, -1), (lambda t: True * t, 3, 1),
    ):  # fmt: skip
        t = leaf(3.0)
        result = function(t)
        result.backward()
        assert result.item() == pytest.approx(value, rel=1e-14)
        assert t.grad.item() == pytest.approx(slope, rel=1e-14)
    for wrong in (lambda t: t // 2, lambda t: t % 2, lambda t: t << 1, lambda t: t | t):
        with pytest.raises(TypeError, match="unsupported operand"):
            wrong(leaf(3.0))


def test_DSP_05_conversion_to_an_array():
    """D20."""
    t = Tensor([1.0, 2])
    assert np.shares_memory(np.asarray(t), t.data)
    assert not np.shares_memory(np.array(t, copy=True), t.data)
    assert np.shares_memory(np.array(t, copy=False), t.data)
    assert np.asarray(t, dtype=np.float32).dtype == np.float32
    with pytest.raises(ValueError, match="copy"):
        np.array(t, dtype=np.float32, copy=False)
    for convert in (np.asarray, np.array, lambda x: np.concatenate([x, x]), lambda x: np.linalg.norm(x)):
        with pytest.raises(TypeError, match=r"use tensor\.detach\(\)\.numpy\(\)"):
            convert(leaf([1.0, 2]))
    assert np.asarray(leaf([1.0, 2]).detach()).tolist() == [1, 2]
    with no_grad():
        assert np.asarray(leaf([1.0]) * 2).tolist() == [2]


def test_D16_log_at_zero_follows_the_formula():
    with np.errstate(divide="ignore"):
        assert gradients(log, [0.0])[0].tolist() == [math.inf]
        assert log([0.0]).tolist() == [-math.inf]


def test_every_choice_is_written_where_it_concerns():
    """The decisions that a docstring must hold, by words that are in it."""
    for function, words in (
        (
            tinyattn.scaled_dot_product_attention,
            ["True = may attend", "upper left", "gets zeros", "Integer masks raise"],
        ),
        (
            tinyattn.mask,
            ["An integer mask raises TypeError", "at least float32", "A 2-D mask is (L, S)", "padding_mask"],
        ),
        (tinyattn.softmax, ["A row of -inf alone gives zeros", "+inf gives NaN", "ValueError"]),
        (tinyattn.logsumexp, ["-inf, with gradient 0"]),
        (tinyattn.window_mask, ["both included", "None is no limit", "0 on both sides self alone"]),
        (tinyattn.causal_mask, ["lower-right", "cache"]),
        (tinyattn.normalize, ["A zero vector stays zero, with gradient 0"]),
        (Tensor.backward, ["second time adds the same gradients again", "no second derivatives", "one element"]),
        (tinyattn.as_tensor, ["shares x's memory"]),
    ):
        text = " ".join(function.__doc__.split())
        for part in words:
            assert part in text, (function.__name__, part)
