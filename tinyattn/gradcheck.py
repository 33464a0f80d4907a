"""Numeric against analytic gradients, every entry; names the pattern of a wrong one."""

import numpy as np

from tinyattn.tensor import Tensor, no_grad

STEP = np.finfo(np.float64).eps ** (
    1 / 3
)  # balances the rounding (eps/h) and the cut-off (h^2) of a central difference


class GradcheckError(AssertionError):
    """An analytic gradient differs from the numeric one."""


def gradcheck(fn, *arrays, rtol=1e-6, atol=1e-8, seed=0):
    """True if fn's gradients are right at `arrays`; otherwise GradcheckError: the entry, both values and the pattern.

    fn takes as many Tensors as there are arrays and returns a Tensor of any shape. Everything runs in float64, whatever
    the arrays' dtype. Its output is weighted with random numbers from `seed` and summed, so that no error can cancel;
    every entry of every input is moved by +-h and the central difference compared with backward's result.
    A point where fn has a kink (relu at 0) fails: there is no derivative to find. TypeError for integers, ValueError
    for NaN or infinity, and for an fn that gives two different results for one input.
    """
    points = [_point(array, i) for i, array in enumerate(arrays)]
    inputs = [Tensor(point, requires_grad=True) for point in points]
    output = fn(*inputs)
    if not isinstance(output, Tensor):
        raise TypeError(f"gradcheck needs fn to return a Tensor, got {type(output).__name__}")
    if not np.array_equal(_value(fn, points), output.data, equal_nan=True):
        raise ValueError("gradcheck needs fn to give the same result for the same input: fix its seed")
    upstream = np.random.default_rng(seed).normal(size=output.shape)
    if output.requires_grad:
        output.backward(upstream)
    for i, x in enumerate(inputs):
        jacobian = _jacobian(fn, points, i)
        numeric = np.tensordot(jacobian, upstream, axes=upstream.ndim)
        analytic = np.zeros(x.shape) if x.grad is None else x.grad
        wrong = ~np.isclose(analytic, numeric, rtol=rtol, atol=atol)
        if wrong.any():
            diagonal = (
                np.einsum("ii->i", jacobian.reshape(x.size, -1)).reshape(x.shape) if x.shape == output.shape else None
            )
            pattern = recognise(analytic, numeric, output=output.data, upstream=upstream, diagonal=diagonal)
            raise GradcheckError(_report(i, analytic, numeric, wrong, pattern))
    return True


def recognise(analytic, numeric, *, output=None, upstream=None, diagonal=None, rtol=1e-4):
    """What the wrong gradient `analytic` looks like beside the right one, in a few words; None if like nothing known.

    output and upstream are the function's value and the gradient that came in; diagonal is d(output[i])/d(input[i]).
    """
    scale = np.abs(numeric).max(initial=0)

    def alike(a, b):
        return np.shape(a) == np.shape(b) and np.allclose(a, b, rtol=rtol, atol=rtol * scale)

    if np.shape(analytic) != np.shape(numeric):
        if alike(_summed_to(analytic, np.shape(numeric)), numeric):
            return "broadcast not summed: add up over the axes along which the input was repeated"
        return f"wrong shape: {np.shape(analytic)} for an input of shape {np.shape(numeric)}"
    if not np.isfinite(analytic).all():
        return "not finite"
    if scale > 0 and not np.any(analytic):
        return "zero: no gradient arrives, the graph is cut on the way"
    if alike(analytic, -numeric):
        return "sign: every entry is negated"
    axes = range(numeric.ndim)
    if any(
        alike(analytic.swapaxes(a, b), numeric)
        for a in axes
        for b in axes
        if a < b and numeric.shape[a] == numeric.shape[b]
    ):
        return "wrong axis: two axes are exchanged"
    if diagonal is not None and alike(analytic, diagonal * upstream):
        return "diagonal Jacobian only: each output depends on the other entries of its row too"
    if upstream is not None and np.shape(output) == numeric.shape:
        if alike(analytic, output * upstream):
            return "missing row sum: subtract sum(grad * output) along the row before multiplying by the output"
        for axis in axes:
            if alike(analytic, output * (upstream - (upstream * output).sum(axis=axis, keepdims=True))):
                return f"wrong axis: the row sum is taken along axis {axis}"
        if alike(analytic, upstream):
            return "passed through: the upstream gradient is returned unchanged"
    ratio = _common_ratio(analytic, numeric, rtol)
    if ratio is not None:
        names = {2.0: "doubled: added once too often", 0.5: "halved: one of two contributions is missing"}
        return names.get(round(ratio, 3), f"factor: every entry is {ratio:.4g} times the right one")
    return None


def _point(array, i):
    point = np.asarray(array.data if isinstance(array, Tensor) else array)
    if point.dtype.kind != "f":
        raise TypeError(f"gradcheck needs floating-point inputs, got input {i} of dtype {point.dtype}")
    if not np.isfinite(point).all():
        raise ValueError(f"gradcheck needs finite inputs, got NaN or infinity in input {i} of shape {point.shape}")
    return point.astype(np.float64)


def _value(fn, points):
    with no_grad():
        return fn(*[Tensor(point) for point in points]).data


def _jacobian(fn, points, i):
    """d(output)/d(points[i]) by central differences: points[i].shape + output.shape."""
    columns = []
    for index in np.ndindex(points[i].shape):
        sides = []
        for sign in (1, -1):
            moved = points[i].copy()
            moved[index] += sign * STEP * max(1.0, abs(moved[index]))
            sides.append((_value(fn, [*points[:i], moved, *points[i + 1 :]]), moved[index]))
        (above, x_above), (below, x_below) = sides
        columns.append((above - below) / (x_above - x_below))
    return np.array(columns).reshape(points[i].shape + np.shape(_value(fn, points)))


def _summed_to(array, shape):
    lead = np.ndim(array) - len(shape)
    if lead < 0 or any(n not in (m, 1) for n, m in zip(shape, np.shape(array)[lead:], strict=True)):
        return None
    ones = tuple(i + lead for i, n in enumerate(shape) if n == 1)
    return np.sum(array, axis=(*range(lead), *ones)).reshape(shape)


def _common_ratio(analytic, numeric, rtol):
    where = np.abs(numeric) > 1e-6 * np.abs(numeric).max(initial=0)
    if not where.any():
        return None
    ratios = analytic[where] / numeric[where]
    ratio = float(np.median(ratios))
    return ratio if ratio and np.allclose(ratios, ratio, rtol=rtol, atol=0) else None


def _report(i, analytic, numeric, wrong, pattern):
    index = tuple(int(n) for n in np.argwhere(wrong)[0])
    got, expected = analytic[index], numeric[index]
    ratio = f"ratio {got / expected:.6g}" if expected else "ratio not defined"
    lines = f"input {i}, entry {index}: backward gave {got:.9g}, the central difference {expected:.9g} ({ratio}); "
    lines += f"{wrong.sum()} of {wrong.size} entries differ"
    return lines + (f"; pattern: {pattern}" if pattern else "; no known pattern")
