"""The table in op_table.py has a row or more for every op.

Each row is checked in the same ways: value, gradient by differences, dtypes, shapes, memory layout, shared inputs. An
op without a row fails `test_every_op_has_a_row`. What is particular to one op follows the table.
"""

import importlib
import math
import pkgutil
import types

import numpy as np
import pytest
from op_table import RNG, TABLE

import tinyattn
from tinyattn import Tensor, gradcheck, ops
from tinyattn.attention import step3_softmax

EVERY_ROW = pytest.mark.parametrize("row", TABLE, ids=lambda r: f"{r.function.__name__}-{r.note}".strip("-"))

# Results in float32 and float16 against float64 ones of the same inputs, relative to the largest entry: a few roundings
# of 6e-8 or 5e-4 each, more where large terms cancel (normalisation, dividing by small numbers)
ERROR = {"float32": 1e-5, "float16": 5e-2}


def draw(row, dtype="float64"):
    random = np.random.default_rng(7)
    return [(random.normal(size=x) if isinstance(x, tuple) else x).astype(dtype) for x in row.inputs]


def backward(row, arrays, upstream=None):
    """The output and one gradient for each array."""
    leaves = shared_leaves(arrays)
    output = row.call(*leaves)
    if output.requires_grad:
        output.backward(np.random.default_rng(8).normal(size=output.shape) if upstream is None else upstream)
    return output, [leaf.grad for leaf in leaves]


def shared_leaves(arrays):
    """Leaves that are the arrays themselves, not copies."""
    leaves = [tinyattn.as_tensor(x) for x in arrays]
    for leaf in leaves:
        leaf.requires_grad = True
    return leaves


def every_op():
    """Everything that @op made, wherever in the package."""
    names = [module.name for module in pkgutil.walk_packages(tinyattn.__path__, "tinyattn.")]
    elsewhere = ("tinyattn.grading", "tinyattn.emulator", "tinyattn.lessons", "tinyattn.__main__")
    modules = [importlib.import_module(name) for name in names if not name.startswith(elsewhere)]
    found = {id(x): x for m in modules for x in vars(m).values() if hasattr(x, "forward") and hasattr(x, "cuda")}
    return [x for x in found.values() if isinstance(x, types.FunctionType)]


def test_every_op_has_a_row():
    tested = {id(row.function) for row in TABLE}
    exported = [x for name, x in vars(tinyattn).items() if callable(x) and getattr(ops, name, None) is x]
    needed = every_op() + [x for x in exported if x not in (Tensor, tinyattn.as_tensor, tinyattn.op, ops.astype)]
    assert len(needed) > 40
    assert [x.__name__ for x in needed if id(x) not in tested] == []


@EVERY_ROW
def test_value_is_numpys(row):
    arrays = draw(row)
    output = row.call(*map(Tensor, arrays))
    expected = row.expected(*arrays)
    assert isinstance(output.data, np.ndarray)
    assert output.shape == np.shape(expected)
    np.testing.assert_allclose(output.data, expected, rtol=1e-12, atol=1e-14)


@EVERY_ROW
def test_gradient_is_the_slope(row):
    assert gradcheck(row.call, *draw(row))


@EVERY_ROW
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_dtype_stays(row, dtype):
    arrays = draw(row, dtype)
    output, gradients = backward(row, arrays)
    exact, exact_gradients = backward(row, [x.astype(float) for x in arrays])
    if not (row.function is tinyattn.mask and row.note == "additive"):  # which is summed in float32, see D9
        assert output.dtype == dtype or not output.requires_grad
    for ours, theirs in zip([output.data, *gradients], [exact.data, *exact_gradients], strict=True):
        if theirs is None:
            continue
        assert ours.dtype == dtype or ours is output.data
        limit = ERROR[dtype] * max(1.0, np.abs(theirs).max())
        np.testing.assert_allclose(ours.astype(float), theirs, rtol=0, atol=limit)


@EVERY_ROW
def test_gradient_of_one_input_alone(row):
    """Where only one input needs a gradient it gets the same one, and the others none."""
    arrays = draw(row)
    _, together = backward(row, arrays)
    for chosen in range(len(arrays)):
        inputs = [Tensor(x, requires_grad=i == chosen) for i, x in enumerate(arrays)]
        output = row.call(*inputs)
        if not output.requires_grad:
            assert together[chosen] is None
            continue
        output.backward(np.random.default_rng(8).normal(size=output.shape))
        for i, x in enumerate(inputs):
            if i == chosen:
                np.testing.assert_allclose(x.grad, together[i], rtol=1e-12, atol=1e-14)
            else:
                assert x.grad is None


@EVERY_ROW
def test_dtypes_of_inputs_may_differ(row):
    arrays = [x.astype(t) for x, t in zip(draw(row), ["float32", "float64", "float16", "float64"], strict=False)]
    output, gradients = backward(row, arrays)
    for x, gradient in zip(arrays, gradients, strict=True):
        assert gradient is None or (gradient.dtype == x.dtype and gradient.shape == x.shape)
    if row.function is not step3_softmax.fused_softmax:  # weights have the scores' dtype, whatever the bias has
        assert output.dtype == np.result_type(*arrays) or len(arrays) == 1


@EVERY_ROW
def test_memory_layout_does_not_matter(row):
    """Transposed, reversed and repeated (stride 0) memory gives what packed copies give; nothing is written to."""
    arrays = draw(row)
    output, gradients = backward(row, arrays)
    odd = [np.asarray(np.flip(np.flip(x).copy(order="F"))) for x in arrays]
    upstream = np.random.default_rng(8).normal(size=output.shape)
    odd_upstream = np.asarray(np.flip(np.flip(upstream).copy(order="F")))
    for x in [*odd, odd_upstream]:
        x.flags.writeable = False
    again, gradients_again = backward(row, odd, odd_upstream)
    np.testing.assert_allclose(again.data, output.data, rtol=1e-12, atol=1e-14)
    for ours, theirs in zip(gradients_again, gradients, strict=True):
        if theirs is not None:
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-13)
    if output.requires_grad:
        _, packed = backward(row, arrays, np.ones(output.shape))
        _, repeated = backward(row, arrays, np.broadcast_to(np.float64(1), output.shape))
        for ours, theirs in zip(repeated, packed, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-13)


@EVERY_ROW
def test_shared_arrays_are_read_only_in_effect(row):
    """An op writes neither to its inputs nor to the gradient that it is given, and .grad is an array of its own."""
    arrays = draw(row)
    before = [x.copy() for x in arrays]
    leaves = shared_leaves(arrays)
    output = row.call(*leaves)
    if not output.requires_grad:
        return
    upstream = np.random.default_rng(8).normal(size=output.shape)
    upstream_before = upstream.copy()
    value = output.data.copy()
    output.backward(upstream)
    first = [leaf.grad.copy() for leaf in leaves]
    output.backward(upstream)
    for leaf, once in zip(leaves, first, strict=True):
        np.testing.assert_allclose(leaf.grad, 2 * once, rtol=1e-12, atol=1e-14)
        assert leaf.grad.flags.writeable
        leaf.grad[...] = 0
    np.testing.assert_array_equal(upstream, upstream_before)
    np.testing.assert_array_equal(output.data, value)
    for x, original in zip(arrays, before, strict=True):
        np.testing.assert_array_equal(x, original)


# --- what is particular to one op ------------------------------------------------------------------------------------


def gradient(function, x, upstream=None):
    leaf = Tensor(x, requires_grad=True)
    output = function(leaf)
    output.backward(np.ones(output.shape) if upstream is None else upstream)
    return leaf.grad


def test_tied_extremes_share_the_gradient():
    assert gradient(ops.max, [1.0, 3, 3, 2]).tolist() == [0, 0.5, 0.5, 0]
    assert gradient(lambda x: ops.min(x, axis=0), [[1.0, 2], [1, 3]]).tolist() == [[0.5, 1], [0.5, 0]]
    a, b = Tensor([1.0, 2], requires_grad=True), Tensor([1.0, 5], requires_grad=True)
    ops.maximum(a, b).sum().backward()
    assert (a.grad.tolist(), b.grad.tolist()) == ([0.5, 0], [0.5, 1])


@pytest.mark.parametrize("extreme", [ops.max, ops.min])
def test_extreme_of_nan_is_nan_without_a_warning(extreme):
    leaf = Tensor([1.0, math.nan], requires_grad=True)
    found = extreme(leaf)
    found.backward()
    assert math.isnan(found.item())


def test_sigmoid_keeps_its_digits_at_both_ends():
    x = np.array([-700.0, -300, -37, -5, 0, 5, 37, 700])
    expected = np.where(x < 0, np.exp(x) / (1 + np.exp(x)), 1 / (1 + np.exp(-np.abs(x))))
    np.testing.assert_allclose(ops.sigmoid(Tensor(x)).data, expected, rtol=1e-14)
    assert np.isfinite(gradient(ops.sigmoid, [-1e4, 1e4])).all()


@pytest.mark.parametrize(("dtype", "a", "b"), [("float16", 1, 300), ("float16", 1e-3, 1e-3), ("float32", 1e-30, 1e-25),
                                               ("float32", 1e25, 1e25), ("float64", 1e200, 1e200)])  # fmt: skip
def test_division_by_what_has_no_square(dtype, a, b):
    """b * b leaves the range of the dtype, a / b**2 does not."""
    given = np.array(a, dtype)
    expected = -np.float64(given) / np.float64(np.array(b, dtype)) / np.float64(np.array(b, dtype))
    ours = gradient(lambda x: given / x, np.array(b, dtype))
    np.testing.assert_allclose(ours.astype(float), expected, rtol=0.1 if dtype == "float16" else 1e-6)


def test_float16_is_summed_wide():
    halves = np.ones(4096, np.float16)
    assert ops.sum(halves).item() == 4096
    assert ops.mean(halves).item() == 1
    assert ops.var(np.tile(np.array([100, 300], np.float16), 2048)).item() == 10000
    assert gradient(lambda x: x * Tensor(halves), np.array(2, np.float16)).item() == 4096
    rows = np.zeros((4096, 3), np.float16)  # summed along the first axis, NumPy adds one row after another
    assert gradient(lambda x: x + Tensor(rows), np.zeros(3, np.float16)).tolist() == [4096] * 3
    assert ops.sum(np.ones((4096, 3), np.float16), axis=0).tolist() == [4096] * 3
    assert gradient(ops.mean, np.ones(100_000, np.float16))[0] == np.float16(1e-5)
    assert (Tensor(np.full((1, 4096), 0.5, np.float16)) @ Tensor(np.full((4096, 1), 0.5, np.float16))).item() == 1024


def test_integers_become_floats_where_the_result_is_real():
    for function in (ops.mean, ops.var, ops.logsumexp, ops.log_softmax, tinyattn.softmax, ops.exp):
        assert function(Tensor([1, 2, 4])).dtype == np.float64
    assert ops.sum(Tensor([1, 2, 4])).dtype.kind == "i"


def test_empty_axes():
    empty = np.zeros((0, 3))
    assert ops.sum(empty, axis=0).tolist() == [0, 0, 0]
    assert gradient(lambda x: x.sum(axis=0), empty).shape == (0, 3)
    assert ops.concat([Tensor(empty), Tensor(np.ones((2, 3)))]).shape == (2, 3)
    assert (Tensor(np.ones((2, 0))) @ Tensor(np.ones((0, 3)))).tolist() == [[0, 0, 0], [0, 0, 0]]
    assert gradient(lambda x: x @ np.ones((0, 3)), np.ones((2, 0))).shape == (2, 0)


def test_axis_may_be_any_integer_and_any_sequence():
    x = RNG.normal(size=(2, 3, 4))
    for axis in (np.int64(1), -2, (1,), [1], [np.int8(-2)]):
        np.testing.assert_array_equal(ops.sum(Tensor(x), axis=axis).data, x.sum(1))
        assert gradient(lambda t, axis=axis: t.mean(axis=axis), x).shape == x.shape


REDUCTIONS = [
    ops.sum,
    ops.mean,
    ops.var,
    ops.max,
    ops.min,
    ops.logsumexp,
    ops.log_softmax,
    ops.argmax,
    tinyattn.softmax,
]


@pytest.mark.parametrize("function", REDUCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize(("shape", "axis"), [((2, 3), 2), ((2, 3), -3), ((), 0), ((), -1)])
def test_an_axis_that_is_not_there(function, shape, axis):
    with pytest.raises(
        ValueError, match=rf"axis {axis} needs a tensor that has this axis, got shape \({shape or ''}"[:50]
    ):
        function(Tensor(np.ones(shape)), axis=axis)


@pytest.mark.parametrize("function", REDUCTIONS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("axis", [1.0, "0", True])
def test_an_axis_that_is_no_integer(function, axis):
    with pytest.raises(TypeError, match="needs an axis that is an integer, got"):
        function(Tensor(np.ones((2, 3))), axis=axis)


@pytest.mark.parametrize("function", [ops.logsumexp, ops.log_softmax, tinyattn.softmax], ids=lambda f: f.__name__)
def test_softmax_and_its_kin_take_one_axis(function):
    with pytest.raises(TypeError, match="needs an axis that is an integer, got None"):
        function(Tensor(np.ones((2, 3))), axis=None)


X = Tensor(np.ones((2, 3)))
MISTAKES = [
    (lambda: X + np.ones(4), ValueError, r"\(2,\s?3\).*\(4,\)"),
    (lambda: X @ X, ValueError, r"matmul needs .* got \(2, 3\) @ \(2, 3\)"),
    (lambda: X @ 2, ValueError, r"at least one axis on both sides, got shapes \(2, 3\) and \(\)"),
    (lambda: Tensor(np.ones((2, 4, 3))) @ np.ones((5, 3, 2)), ValueError, r"broadcast, got shapes \(2, 4, 3\) and \(5"),
    (lambda: X.reshape(4, 2), ValueError, r"cannot reshape \(2, 3\) \(6 elements\) into \(4, 2\)"),
    (lambda: ops.permute_dims(X, (0, 0)), ValueError, r"each axis of shape \(2, 3\) once, got axes \(0, 0\)"),
    (lambda: ops.permute_dims(X, (0,)), ValueError, r"each axis of shape \(2, 3\) once, got axes \(0,\)"),
    (lambda: ops.concat([]), ValueError, r"one tensor or more"),
    (lambda: ops.concat([X, np.ones((3, 2))]), ValueError, r"agree on the other axes, got \[\(2, 3\), \(3, 2\)\]"),
    (lambda: ops.concat([X, X], axis=2), ValueError, r"concat along axis 2 .* got shape \(2, 3\)"),
    (lambda: ops.stack([X, np.ones(3)]), ValueError, r"stack needs .* got \[\(2, 3\), \(3,\)\]"),
    (lambda: X[2], IndexError, r"cannot index a tensor of shape \(2, 3\): index 2 is out of bounds"),
    (lambda: X[0, 0, 0], IndexError, r"cannot index a tensor of shape \(2, 3\): too many indices"),
    (lambda: X[0.5], IndexError, r"cannot index a tensor of shape \(2, 3\)"),
    (lambda: X[np.array([True, False, True])], IndexError, r"cannot index a tensor of shape \(2, 3\)"),
    (lambda: ops.take(X, [0.5]), TypeError, r"take needs integer indices, got dtype float64"),
    (lambda: ops.take(X, [0], axis=2), ValueError, r"take along axis 2 .* got shape \(2, 3\)"),
    (lambda: ops.take(X, [7]), IndexError, r"index 7 is out of bounds"),
    (lambda: ops.where(np.ones(3), X, X), TypeError, r"where needs a boolean condition, got float64"),
    (lambda: ops.max(np.ones((0, 3)), axis=0), ValueError, r"max needs at least one element .* got shape \(0, 3\)"),
    (lambda: ops.min([]), ValueError, r"min needs at least one element"),
    (lambda: ops.var([1.0], correction=1), ValueError, r"correction=1 needs more elements, got 1 in shape \(1,\)"),
    (lambda: ops.squeeze(X, 0), ValueError, r"size not equal to one"),
    (lambda: ops.expand_dims(X, 5), ValueError, r"axis 5 is out of bounds"),
    (lambda: ops.broadcast_to(X, (2, 4)), ValueError, r"\(2,\s?3\).*\(2,\s?4\)"),
    (lambda: ops.exp(None), TypeError, r"exp works on tensors, arrays and numbers, got NoneType"),
    (lambda: X + None, TypeError, r"add works on tensors, arrays and numbers, got NoneType"),
    (lambda: X * "2", TypeError, r"multiply works on tensors, arrays and numbers, got str"),
    (lambda: X * 2j, TypeError, r"multiply works on tensors, arrays and numbers, got complex"),
    (lambda: X * np.array([1j]), TypeError, r"float64, got complex128"),
    (lambda: X * np.array([None]), TypeError, r"float64, got object"),
    (lambda: X * np.array([[1, 2, 3]], np.longdouble), TypeError, r"float64, got (float128|longdouble|float96)"),
    (lambda: X * np.ma.array([1.0, 2, 3], mask=[0, 1, 0]), TypeError, r"no masked elements, got a MaskedArray"),
    (lambda: ops.exp(X, X), TypeError, r"exp takes x, got 2 arguments"),
    (lambda: tinyattn.softmax(X, -1, 7), TypeError, r"softmax takes scores, axis, got 3 arguments"),
    (lambda: tinyattn.scores(X), TypeError, r"scores needs query and key, got no key"),
    (lambda: ops.sum(X, 0, axis=1), TypeError, r"sum got axis twice"),
    (lambda: ops.sum(X, dim=1), TypeError, r"unexpected keyword argument 'dim'"),
    (lambda: ops.astype(X, "complex"), TypeError, r"complex128"),
]  # fmt: skip


@pytest.mark.parametrize(("call", "error", "message"), MISTAKES, ids=range(len(MISTAKES)))
def test_a_mistake_is_named_in_one_sentence(call, error, message):
    with pytest.raises(error, match=message) as raised:
        call()
    assert "\n" not in str(raised.value)


def test_inputs_by_name_and_settings_by_position():
    query, key = RNG.normal(size=(3, 4)), RNG.normal(size=(5, 4))
    np.testing.assert_array_equal(tinyattn.scores(key=key, query=query).data, tinyattn.scores(query, key).data)
    np.testing.assert_array_equal(ops.sum(query, 1, True).data, query.sum(1, keepdims=True))
    np.testing.assert_array_equal(tinyattn.softmax(query, 0).data, tinyattn.softmax(query, axis=0).data)


def test_numbers_and_lists_are_inputs_too():
    assert ops.sum(3.0).item() == 3
    assert ops.reshape(3.0, (1, 1)).tolist() == [[3]]
    assert ops.maximum(2, 3).item() == 3
    assert (Tensor([1.0, 2]) * [3, 4]).tolist() == [3, 8]


def test_a_matrix_multiplies_entry_by_entry():
    """np.matrix would take * as a matrix product; a tensor never does."""
    with pytest.warns(PendingDeprecationWarning):
        matrix = np.asmatrix(np.array([[1.0, 2], [3, 4]]))
    np.testing.assert_array_equal((Tensor(np.eye(2)) * matrix).data, [[1, 0], [0, 4]])


def test_reshape_forms():
    assert X.reshape(-1).shape == X.reshape((6,)).shape == ops.reshape(X, [6]).shape == (6,)
    assert Tensor(1.0).reshape(()).shape == ()


def test_comparisons_are_boolean_tensors_without_a_gradient():
    x = Tensor([1.0, 2, 3], requires_grad=True)
    for result, expected in (
        (x < 2, [True, False, False]), (x <= 2, [True, True, False]), (x > 2, [False, False, True]),
        (x >= Tensor(2.0), [False, True, True]), (x == np.array([1, 0, 3]), [True, False, True]),
        (x != 2, [True, False, True]),
        (np.array([1, 0, 3]) == x, [True, False, True]),
    ):  # fmt: skip
        assert isinstance(result, Tensor)
        assert result.tolist() == expected
        assert not result.requires_grad
    assert (x == "a") is False
    assert (x != None) is True  # noqa: E711
    with pytest.raises(TypeError):
        x < "a"  # noqa: B015


def test_astype_passes_the_gradient_back_in_the_inputs_dtype():
    x = Tensor([1.0, 2], requires_grad=True, dtype="float16")
    wide = x.astype("float64")
    (wide * 3).sum().backward()
    assert (wide.dtype, x.grad.dtype, x.grad.tolist()) == ("float64", "float16", [3, 3])
    assert not x.astype(int).requires_grad
    assert x.astype("float16") is x


def test_normalize_gives_a_zero_vector_gradient_zero():
    x = Tensor([[0.0, 0], [3, 4]], requires_grad=True)
    unit = ops.normalize(x)
    unit.backward(np.ones((2, 2)))
    np.testing.assert_allclose(unit.data, [[0, 0], [0.6, 0.8]], rtol=1e-15)
    np.testing.assert_allclose(x.grad, [[0, 0], [0.032, -0.024]], rtol=1e-12)  # (1 - u (u.1)) / 5


@pytest.mark.parametrize(
    ("dtype", "size"), [("float16", 1e4), ("float16", 1e-3), ("float32", 1e25), ("float32", 1e-25)]
)
def test_normalize_vectors_whose_squares_the_dtype_does_not_hold(dtype, size):
    x = (np.array([3, 4]) * size).astype(dtype)
    eps = size / 1000
    np.testing.assert_allclose(ops.normalize(x, eps=eps).data.astype(float), [0.6, 0.8], rtol=1e-3)
    slope = gradient(lambda t: ops.normalize(t, eps=eps) * np.dtype(dtype).type(size), x, np.array([1.0, 0]))
    np.testing.assert_allclose(slope.astype(float), [0.128, -0.096], rtol=2e-3)  # (1 - u (u.1)) / 5
