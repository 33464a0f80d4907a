"""The builders of boolean masks, against their definitions entry by entry."""

import itertools
import math

import numpy as np
import pytest

from tinyattn import Tensor, causal_mask, mask, padding_mask, window_mask
from tinyattn.attention.masks import causal_offset, window_sides

SIZES = [(5, 5), (3, 7), (7, 3), (1, 4), (4, 1), (1, 1), (0, 3), (3, 0), (0, 0)]


def table(L, S, rule):
    return np.array([[rule(i, j) for j in range(S)] for i in range(L)], bool).reshape(L, S)


@pytest.mark.parametrize(("L", "S"), SIZES)
def test_causal_mask(L, S):
    np.testing.assert_array_equal(causal_mask(L, S), table(L, S, lambda i, j: j <= i))
    np.testing.assert_array_equal(
        causal_mask(L, S, "lower-right"), table(L, S, lambda i, j: j - (S - 1) <= i - (L - 1))
    )
    assert causal_mask(L, S).dtype == bool
    if L == S:
        np.testing.assert_array_equal(causal_mask(L), causal_mask(L, L))
        np.testing.assert_array_equal(causal_mask(L), causal_mask(L, align="lower-right"))


@pytest.mark.parametrize(("L", "S"), SIZES)
@pytest.mark.parametrize("align", ["upper-left", "lower-right"])
def test_window_mask(L, S, align):
    """D13: inclusive distances, counted from where the query stands among the keys."""
    shift = S - L if align == "lower-right" else 0
    assert causal_offset(L, S, align) == shift
    for left, right in itertools.product([None, 0, 1, 2, 9], repeat=2):
        low, high = (math.inf if side is None else side for side in (left, right))
        expected = table(L, S, lambda i, j, low=low, high=high: i + shift - low <= j <= i + shift + high)
        np.testing.assert_array_equal(window_mask(L, S, left, right, align), expected)


def test_window_mask_of_a_square_and_its_defaults():
    np.testing.assert_array_equal(window_mask(4), np.ones((4, 4)))
    np.testing.assert_array_equal(window_mask(4, left=0, right=0), np.eye(4))
    np.testing.assert_array_equal(window_mask(4, right=0), causal_mask(4))
    assert window_mask(3).dtype == bool


def test_padding_mask():
    keep = padding_mask([2, 0, 4], 4)
    assert (keep.shape, keep.dtype) == ((3, 1, 1, 4), bool)
    assert keep[:, 0, 0].tolist() == [[True, True, False, False], [False] * 4, [True] * 4]
    for lengths in (np.array([2, 0, 4], np.uint8), (2, 0, 4), Tensor([2, 0, 4])):
        np.testing.assert_array_equal(padding_mask(lengths, 4), keep)
    assert padding_mask([], 4).shape == (0, 1, 1, 4)


BAD = [
    (lambda: causal_mask(-1), ValueError, "L must not be negative, got -1"),
    (lambda: causal_mask(3, -2), ValueError, "S must not be negative, got -2"),
    (lambda: causal_mask(2.0), TypeError, "L must be an integer, got float"),
    (lambda: causal_mask("3"), TypeError, "L must be an integer, got str"),
    (lambda: causal_mask(3, align="right"), ValueError, "align must be 'upper-left' or 'lower-right', got 'right'"),
    (lambda: window_mask(3, align=None), ValueError, "align must be 'upper-left' or 'lower-right', got None"),
    (lambda: window_mask(3, left=-1), ValueError, "left must not be negative, got -1"),
    (lambda: window_mask(3, right=0.5), TypeError, "right must be an integer, got float"),
    (lambda: window_sides(3), ValueError, r"a pair \(left, right\) of distances in keys or None, got 3"),
    (lambda: window_sides((1, 2, 3)), ValueError, r"got \(1, 2, 3\)"),
    (lambda: padding_mask([5], 4), ValueError, "lengths from 0 to S=4, got 5 to 5"),
    (lambda: padding_mask([-1, 2], 4), ValueError, "lengths from 0 to S=4, got -1 to 2"),
    (lambda: padding_mask([1.0], 4), TypeError, r"1-D array of integers, got shape \(1,\) of float64"),
    (lambda: padding_mask([[1]], 4), TypeError, r"1-D array of integers, got shape \(1, 1\) of int64"),
    (lambda: padding_mask([True], 4), TypeError, r"1-D array of integers, got shape \(1,\) of bool"),
    (lambda: padding_mask(3, 4), TypeError, r"1-D array of integers, got shape \(\)"),
    (lambda: padding_mask([1], None), TypeError, "S must be an integer, got NoneType"),
    (lambda: mask(np.ones((2, 3)), np.ones((3, 3), bool)), ValueError, r"\(..., L, S\) = \(2, 3\), got \(3, 3\)"),
    (lambda: mask(np.ones((2, 3)), np.ones((4, 2, 3), bool)), ValueError, r"= \(2, 3\), got \(4, 2, 3\)"),
    (lambda: mask(np.ones((2, 3)), True), TypeError, "got bool"),
    (lambda: mask(np.ones((2, 3)), 0.0), TypeError, "got float"),
    (lambda: mask(np.ones((2, 3)), None), TypeError, "got NoneType"),
    (lambda: mask(3.0, np.ones((2, 3), bool)), ValueError, r"= \(\), got \(2, 3\)"),
]


@pytest.mark.parametrize(("call", "error", "message"), BAD, ids=range(len(BAD)))
def test_a_mistake_is_named_in_one_sentence(call, error, message):
    with pytest.raises(error, match=message) as raised:
        call()
    assert "\n" not in str(raised.value)
