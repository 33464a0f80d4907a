"""Verdicts: shape, then type, then non-finite entries, then values; and what counts as equal."""

import numpy as np
import pytest

from tinyattn.grading.compare import compare, default_tolerance, same
from tinyattn.grading.wire import Huge, Odd

EXPECTED = np.array([[1.0, 2.0, 3.0], [0.0, 0.0, 1e-3]])


def status(got, expected=EXPECTED, relative=1e-8, width=8):
    return compare(expected, got, relative, width).status


@pytest.mark.parametrize(
    ("got", "expected_status"),
    [
        (EXPECTED.copy(), "pass"),
        (np.asfortranarray(EXPECTED), "pass"),
        (EXPECTED * (1 + 1e-9), "pass"),
        (EXPECTED.astype(np.longdouble), "pass"),
        (EXPECTED * (1 + 1e-7), "wrong"),
        (EXPECTED.T, "wrong shape"),
        (EXPECTED[None], "wrong shape"),
        (EXPECTED.ravel(), "wrong shape"),
        (np.ones(()), "wrong shape"),
        (Huge((10**12,)), "wrong shape"),
        (EXPECTED.astype(np.float32), "wrong type"),
        (EXPECTED.astype(complex), "wrong type"),
        (np.ones((2, 3), int), "wrong type"),
        (np.ones((2, 3), bool), "wrong type"),
        (EXPECTED.tolist(), "wrong type"),
        (None, "wrong type"),
        (1.0, "wrong type"),
        ("[[1, 2, 3], [0, 0, 0.001]]", "wrong type"),
        (Odd("Tensor"), "wrong type"),
        ((EXPECTED, EXPECTED), "wrong type"),
        (np.where(EXPECTED > 2, np.nan, EXPECTED), "not finite"),
        (np.where(EXPECTED > 2, -np.inf, EXPECTED), "not finite"),
    ],
)
def test_status_of_an_array(got, expected_status):
    assert status(got) == expected_status


def test_a_row_is_measured_by_its_own_largest_entry():
    expected = np.array([[1e6, 0.0], [1.0, 0.5]])
    off = expected.copy()
    off[0, 0] += 1e-3
    assert status(off, expected) == "pass"
    off[1, 0] += 1e-3
    assert status(off, expected) == "wrong"


def test_the_line_names_index_and_size():
    got = EXPECTED.copy()
    got[1, 2] += 0.5
    line = compare(EXPECTED, got, 1e-8).line
    assert "1 of 6 entries" in line
    assert "[1, 2]" in line
    assert "0.501" in line
    assert "largest error 0.5" in line


def test_float32_inputs_widen_the_tolerance_and_the_dtype():
    inputs = [np.zeros(2, np.float32), np.zeros(2, bool)]
    relative = default_tolerance(inputs)
    assert relative > 1e-6
    assert status((EXPECTED * (1 + 1e-6)).astype(np.float32), relative=relative, width=4) == "pass"
    assert status(EXPECTED * (1 + 1e-6), relative=relative, width=4) == "pass"
    assert status(EXPECTED.astype(np.float16), relative=relative, width=4) == "wrong type"


def test_several_results_are_compared_one_by_one():
    expected = (EXPECTED, EXPECTED[0])
    assert status([EXPECTED, EXPECTED[0]], expected) == "pass"
    assert status((EXPECTED,), expected) == "wrong shape"
    assert status(EXPECTED, expected) == "wrong type"
    assert "item 2" in compare(expected, (EXPECTED, EXPECTED[1]), 1e-8).line


def test_plain_values():
    assert status(3.0, 3.0) == "pass"
    assert status(3, 3.0) == "pass"
    assert status(np.array(3.0), 3.0) == "pass"
    assert status(True, 1.0) == "wrong type"
    assert status("a", "a") == "pass"
    assert status("b", "a") == "wrong"
    assert status(None, "a") == "wrong type"


def test_mistakes_are_the_same_within_rounding_and_with_the_same_holes():
    holes = np.array([1.0, np.nan, np.inf, -np.inf])
    assert same(holes, holes + 1e-12, 1e-8)
    assert not same(holes, np.array([1.0, np.nan, np.inf, np.inf]), 1e-8)
    assert not same(holes, np.array([1.0, 0.0, np.inf, -np.inf]), 1e-8)
    assert not same(EXPECTED, EXPECTED.astype(np.float32), 1e-8)
    assert same(EXPECTED, EXPECTED.astype(np.float32), 1e-6, width=4)
    assert same((EXPECTED, 1.0), [EXPECTED, 1.0], 1e-8)
    assert not same(EXPECTED, None, 1e-8)
    assert same(Odd("Tensor"), Odd("Tensor"), 1e-8)
