"""Whether an answer is right; if not, its status and one line of evidence. Shape first, then type, NaN, and values."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from tinyattn.grading.wire import Huge, Odd

# Relative to the largest entry of a row. Different orders of summation differ by far less, a wrong formula by far more.
TOLERANCE = {2: 1e-2, 4: 2e-5, 8: 1e-8}


@dataclass(frozen=True)
class Verdict:
    """`line` may be shown for public tests only: it holds shapes, indices and values."""

    status: str
    line: str = ""

    @property
    def passed(self) -> bool:
        return self.status == "pass"


PASS = Verdict("pass")


def default_tolerance(inputs: list[np.ndarray]) -> float:
    """The tolerance that goes with the narrowest floating-point input."""
    return TOLERANCE[min((each.dtype.itemsize for each in inputs if each.dtype.kind == "f"), default=8)]


def allowed(expected: np.ndarray, relative: float) -> np.ndarray:
    """The error allowed at each entry: `relative` times the largest entry of its row, and never less than of 1e-4."""
    size = np.abs(expected)
    row = np.max(size, axis=-1, keepdims=True, initial=0) if size.ndim else size
    return relative * np.maximum(np.where(np.isfinite(row), row, 1), 1e-4)


def compare(expected: Any, got: Any, relative: float, width: int = 8, name: str = "the result") -> Verdict:
    """`got` against `expected`; a floating-point answer must have at least `width` bytes an entry."""
    if isinstance(expected, tuple | list):
        return _compare_items(expected, got, relative, width, name)
    if isinstance(expected, str | bool) or expected is None:
        if type(got) is type(expected):
            return PASS if got == expected else Verdict("wrong", f"{name} is {got!r}; expected {expected!r}")
        return Verdict("wrong type", f"{name} is {_kind(got)}; expected {_kind(expected)}")
    return _compare_array(np.asarray(expected), got, relative, width, name, plain=not isinstance(expected, np.ndarray))


def _compare_items(expected: Any, got: Any, relative: float, width: int, name: str) -> Verdict:
    if not isinstance(got, tuple | list):
        return Verdict("wrong type", f"{name} is {_kind(got)}; expected {len(expected)} results")
    if len(got) != len(expected):
        return Verdict("wrong shape", f"{name} has {len(got)} items; expected {len(expected)}")
    for i, (each, ours) in enumerate(zip(got, expected, strict=True)):
        if not (verdict := compare(ours, each, relative, width, f"item {i + 1} of {name}")).passed:
            return verdict
    return PASS


def _compare_array(expected: np.ndarray, got: Any, relative: float, width: int, name: str, plain: bool) -> Verdict:
    if isinstance(got, Huge):
        return Verdict("wrong shape", f"{name} is far too large: shape {got.shape}; expected {expected.shape}")
    if isinstance(got, np.generic) or (plain and isinstance(got, int | float) and not isinstance(got, bool)):
        got = np.asarray(got)  # a NumPy scalar travels as an array of shape ()
    if not isinstance(got, np.ndarray):
        return Verdict("wrong type", f"{name} is {_kind(got)}; expected a NumPy array of shape {expected.shape}")
    if got.shape != expected.shape:
        return Verdict("wrong shape", f"{name} has shape {got.shape}; expected {expected.shape}")
    floating = expected.dtype.kind == "f"
    if floating and not plain and (got.dtype.kind != "f" or got.dtype.itemsize < width):
        return Verdict("wrong type", f"{name} has dtype {got.dtype}; expected float{8 * width} or wider")
    if not floating and got.dtype.kind != expected.dtype.kind:
        return Verdict("wrong type", f"{name} has dtype {got.dtype}; expected {expected.dtype}")
    if not floating:
        bad = got != expected
    else:
        strange = ~np.isfinite(got) & np.isfinite(expected)
        if np.any(strange):
            at = _first(strange)
            return Verdict("not finite", f"{name} has {np.sum(strange)} entries that are not finite, the first at {at}")
        with np.errstate(invalid="ignore"):
            error = np.abs(got - expected)
            close = (error <= allowed(expected, relative)) | (got == expected) | (np.isnan(got) & np.isnan(expected))
        bad = ~close
    if not np.any(bad):
        return PASS
    at = _first(bad)
    place = tuple(at)
    return Verdict(
        "wrong",
        f"{name} is wrong at {np.sum(bad)} of {bad.size} entries, first at {at}: "
        f"got {got[place]:.6g}, expected {expected[place]:.6g}"
        + (f"; largest error {np.max(error[bad]):.2g}" if floating else ""),
    )


def same(a: Any, b: Any, relative: float, width: int = 8) -> bool:
    """Whether two answers agree within rounding, NaN and infinities included: the same mistake was made."""
    if isinstance(a, tuple | list) and isinstance(b, tuple | list):
        return len(a) == len(b) and all(same(x, y, relative, width) for x, y in zip(a, b, strict=True))
    if isinstance(a, np.ndarray | np.generic | int | float) and isinstance(b, np.ndarray | np.generic | int | float):
        a, b = np.asarray(a), np.asarray(b)
        narrow = [each.dtype.kind == "f" and each.dtype.itemsize < width for each in (a, b)]
        if a.shape != b.shape or a.dtype.kind != b.dtype.kind or narrow[0] != narrow[1]:
            return False
        if a.dtype.kind not in "fc":
            return bool(np.array_equal(a, b))
        with np.errstate(invalid="ignore"):
            close = np.abs(a - b) <= allowed(np.where(np.isfinite(b), b, 0), relative)
        return bool(np.all(close | (a == b) | (np.isnan(a) & np.isnan(b))))
    if isinstance(a, Odd) or isinstance(b, Odd):
        return (a.type if isinstance(a, Odd) else type(a).__name__) == (
            b.type if isinstance(b, Odd) else type(b).__name__
        )
    return type(a) is type(b) and bool(a == b)


def _first(bad: np.ndarray) -> list[int]:
    return [int(i) for i in np.argwhere(bad)[0]]


def _kind(value: Any) -> str:
    if isinstance(value, Odd):
        return f"of type {value.type}"
    if value is None:
        return "None"
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    return f"of type {type(value).__name__}"
