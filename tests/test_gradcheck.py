"""gradcheck: lets right gradients pass, stops wrong ones, and names the pattern of each planted mistake."""

import re

import numpy as np
import pytest

from tinyattn import GradcheckError, Tensor, exp, gradcheck, op, relu, softmax
from tinyattn.gradcheck import recognise


def planted(forward, vjp):
    """An op of one input: forward and vjp on arrays, vjp(grad, x, y)."""

    @op
    def wrong(x):
        y = forward(x)
        return y, lambda grad: (vjp(grad, x, y),)

    return wrong


def weights(x):
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


def row_sum(x):
    return x.sum(-1, keepdims=True)


SQUARE = np.array([[0.3, -1.2, 0.5], [1.1, 0.2, -0.7], [-0.4, 0.9, 1.6]])

PLANTED = {
    "doubled: added once too often": (np.exp, lambda g, x, y: 2 * g * y),
    "halved: one of two contributions is missing": (lambda x: x * x, lambda g, x, y: g * x),
    "factor: every entry is 3 times the right one": (np.exp, lambda g, x, y: 3 * g * y),
    "sign: every entry is negated": (np.cos, lambda g, x, y: g * np.sin(x)),
    "zero: no gradient arrives": (np.exp, lambda g, x, y: 0 * g),
    "not finite": (np.exp, lambda g, x, y: g * y / np.where(x > 1, np.nan, 1)),
    "missing row sum": (weights, lambda g, x, y: g * y),
    "diagonal Jacobian only": (weights, lambda g, x, y: g * y * (1 - y)),
    "wrong axis: the row sum is taken along axis 0": (weights, lambda g, x, y: y * (g - (g * y).sum(0, keepdims=True))),
    "wrong axis: two axes are exchanged": (lambda x: x @ SQUARE, lambda g, x, y: (g @ SQUARE.T).T),
    "passed through: the upstream gradient is returned unchanged": (lambda x: 4 * np.tanh(x), lambda g, x, y: g),
    "no known pattern": (weights, lambda g, x, y: y * (g - row_sum(g * y)) + np.sin(x)),
}


@pytest.mark.parametrize("pattern", PLANTED)
def test_names_the_pattern_of_a_planted_mistake(pattern, rng):
    with pytest.raises(GradcheckError, match=re.escape(pattern)) as raised:
        gradcheck(planted(*PLANTED[pattern]), rng.normal(size=(3, 3)))
    report = str(raised.value)
    assert "\n" not in report
    assert re.search(r"input 0, entry \(\d, \d\): backward gave \S+, the central difference \S+ \(ratio", report)


@pytest.mark.parametrize("pattern", PLANTED)
def test_lets_the_right_vjp_of_the_same_function_pass(pattern, rng):
    """So that it is the vjp, not the function, that is told."""
    right = {
        np.exp: lambda g, x, y: g * y, np.cos: lambda g, x, y: -g * np.sin(x),
        weights: lambda g, x, y: y * (g - row_sum(g * y)),
    }  # fmt: skip
    forward = PLANTED[pattern][0]
    if forward in right:
        assert gradcheck(planted(forward, right[forward]), rng.normal(size=(3, 3)))


def test_broadcast_not_summed_is_told_by_shapes(rng):
    """The engine undoes broadcasting itself, so a tensor cannot show this one; a student's own function can."""
    right = rng.normal(size=(1, 4))
    assert recognise(right / 3 * np.ones((3, 1)), right).startswith("broadcast not summed")
    assert recognise(rng.normal(size=(3, 4)), right).startswith("wrong shape: (3, 4) for an input of shape (1, 4)")
    assert recognise(right[0], right).startswith("wrong shape")


def test_every_pattern_of_the_contract_has_a_planted_mistake():
    text = " ".join(PLANTED)
    for word in ("doubled", "sign", "missing row sum", "wrong axis", "diagonal Jacobian only", "zero"):
        assert word in text


def test_reports_entry_values_and_ratio():
    def one_entry(grad, x, y):
        gradient = 2 * x * grad
        gradient[1, 2] *= 1.5
        return gradient

    wrong = planted(lambda x: x * x, one_entry)
    with pytest.raises(GradcheckError, match=r"input 1, entry \(1, 2\).*\(ratio 1\.5\); 1 of 6 entries differ"):
        gradcheck(lambda a, b: a + wrong(b), np.ones((2, 3)), np.arange(1.0, 7).reshape(2, 3))


def test_a_single_wrong_entry_anywhere_is_found():
    for index in np.ndindex(2, 2):

        def nearly(grad, x, y, index=index):
            gradient = grad * y
            gradient[index] *= 1 + 1e-4
            return gradient

        with pytest.raises(GradcheckError, match=re.escape(f"entry {index}")):
            gradcheck(planted(np.exp, nearly), np.ones((2, 2)))


def test_errors_that_cancel_in_a_plain_sum_are_found(rng):
    """With an upstream gradient of ones, softmax has gradient 0 whatever is wrong with it."""
    with pytest.raises(GradcheckError):
        gradcheck(planted(weights, lambda g, x, y: 5 * y * (g - row_sum(g * y))), rng.normal(size=(2, 4)))


def test_every_input_is_checked(rng):
    arrays = [rng.normal(size=s) for s in ((2, 3), (3,), ())]
    cut = [lambda a, b, c: a.detach() * b * c, lambda a, b, c: a * b.detach() * c, lambda a, b, c: a * b * c.detach()]
    for i, fn in enumerate(cut):
        with pytest.raises(GradcheckError, match=f"input {i}.*zero: no gradient arrives"):
            gradcheck(fn, *arrays)
    assert gradcheck(lambda a, b, c: a * b * c, *arrays)


def test_large_and_small_points():
    assert gradcheck(lambda x: x * x, np.array([1e-8, 1e4, 1e8]))
    assert gradcheck(softmax, np.array([-30.0, 0, 30]))


def test_outputs_of_any_shape():
    for fn in (lambda x: x.sum(), lambda x: x[0, :1], lambda x: x.reshape(3, 1, 2), lambda x: x[:0], lambda x: x):
        assert gradcheck(fn, np.arange(6.0).reshape(2, 3))
    assert gradcheck(lambda x: x * 2, np.zeros((0, 3)))
    assert gradcheck(lambda x: Tensor(np.ones(2)), np.ones(3))


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_runs_in_float64_whatever_the_input(dtype):
    seen = set()

    def fn(x):
        seen.add(x.dtype)
        return exp(x) * x

    assert gradcheck(fn, np.array([0.3, -2.0], dtype))
    assert gradcheck(fn, Tensor([0.3, -2.0], dtype=dtype))
    assert seen == {np.dtype("float64")}


def test_the_callers_array_is_left_alone():
    x = np.array([1.0, 2])
    gradcheck(exp, x)
    assert x.tolist() == [1, 2]


def test_a_kink_has_no_derivative():
    with pytest.raises(GradcheckError):
        gradcheck(relu, np.array([0.0]))


def test_what_it_refuses():
    with pytest.raises(TypeError, match="needs floating-point inputs, got input 1 of dtype int64"):
        gradcheck(lambda a, b: a * b, np.ones(2), np.array([1, 2]))
    with pytest.raises(ValueError, match=r"needs finite inputs, got NaN or infinity in input 0 of shape \(2,\)"):
        gradcheck(exp, np.array([1.0, np.nan]))
    with pytest.raises(TypeError, match="needs fn to return a Tensor, got float"):
        gradcheck(lambda x: x.sum().item(), np.ones(2))
    draws = iter(range(100))
    with pytest.raises(ValueError, match="same result for the same input: fix its seed"):
        gradcheck(lambda x: x * next(draws), np.ones(2))
