"""Elementary ops, each with its vjp beside it; Tensor's operators at the bottom.

Conventions where a function has no derivative: abs, relu and max at a tie or kink take PyTorch's value (0 at the kink
of abs and relu, an equal share for tied maxima, 1 at the bounds of clip). sqrt and log at 0 follow the formula (inf).
`where` stops the gradient of the branch not taken, but 0 * inf is NaN: keep the *input* of the other branch harmless,
where(x > 0, sqrt(where(x > 0, x, 1)), 0).
"""

import math
import operator

import numpy as np

from tinyattn.backend import add_at, is_array, namespace, shape_of, widen
from tinyattn.tensor import Tensor, as_tensor, op

# --- elementwise: shapes broadcast as in NumPy ---------------------------------------------------------------------


def same(grad):
    return grad


def opposite(grad):
    return -grad


@op
def add(a, b):
    return a + b, (same, same)


@op
def subtract(a, b):
    return a - b, (same, opposite)


def _as_array(number, like):
    """A number as an array of shape () and the dtype of `like`: NumPy takes twice as long over a Python number."""
    if type(like) is np.ndarray and like.dtype.kind == "f":
        return np.array(number, like.dtype)
    return number


@op
def multiply(a, b):
    if type(b) is float or type(b) is int:
        b = _as_array(b, a)
    return a * b, (lambda grad: grad * b, lambda grad: grad * a)


@op
def divide(a, b):
    if type(b) is float or type(b) is int:
        b = _as_array(b, a)
    ratio = a / b
    return ratio, (lambda grad: grad / b, lambda grad: -grad * (ratio / b))  # b * b would overflow in float16 from 256


@op
def negative(a):
    return -a, (opposite,)


@op
def power(base, exponent):
    """base ** exponent. Where exponent is 0, d/d(base) is 0; where 0 ** exponent is finite, d/d(exponent) is 0."""
    xp = namespace(base, exponent)
    result = base**exponent

    def d_base(grad):
        safe = (exponent or 1) if isinstance(exponent, int | float) else xp.where(exponent == 0, 1, exponent)
        return grad * exponent * base ** (safe - 1)

    def d_exponent(grad):
        return grad * result * xp.log(xp.where((base == 0) & (exponent >= 0), 1, base))

    return result, (d_base, d_exponent)


@op
def exp(x):
    y = namespace(x).exp(x)
    return y, (lambda grad: grad * y,)


@op
def log(x):
    return namespace(x).log(x), (lambda grad: grad / x,)


@op
def sqrt(x):
    y = namespace(x).sqrt(x)
    return y, (lambda grad: grad / (2 * y),)


@op
def tanh(x):
    y = namespace(x).tanh(x)
    return y, (lambda grad: grad - grad * y * y,)


@op
def sigmoid(x):
    """1 / (1 + exp(-x)), to full relative accuracy at both ends."""
    xp = namespace(x)
    y = xp.exp(-xp.logaddexp(0, -x))
    return y, (lambda grad: grad * y * (1 - y),)


@op
def relu(x):
    return namespace(x).maximum(x, 0), (lambda grad: grad * (x > 0),)


@op
def abs(x):
    xp = namespace(x)
    return xp.abs(x), (lambda grad: grad * xp.sign(x),)


@op
def where(condition, a, b):
    """a where the condition holds, b elsewhere."""
    xp = namespace(condition, a, b)
    if not np.isdtype(getattr(condition, "dtype", np.dtype(type(condition))), "bool"):
        raise TypeError(f"where needs a boolean condition, got {getattr(condition, 'dtype', type(condition).__name__)}")
    return xp.where(condition, a, b), (
        None,
        lambda grad: xp.where(condition, grad, 0),
        lambda grad: xp.where(condition, 0, grad),
    )


@op
def maximum(a, b):
    return _extreme(namespace(a, b).maximum(a, b), a, b)


@op
def minimum(a, b):
    return _extreme(namespace(a, b).minimum(a, b), a, b)


def _extreme(chosen, a, b):
    tied = 1.0 + (a == b)
    return chosen, (lambda grad: grad * (a == chosen) / tied, lambda grad: grad * (b == chosen) / tied)


@op
def clip(x, *, min=None, max=None):
    """x held within [min, max]; the gradient passes at the bounds themselves."""
    xp = namespace(x)
    lower, upper = -math.inf if min is None else min, math.inf if max is None else max
    return xp.clip(x, min, max), (lambda grad: grad * ((x >= lower) & (x <= upper)),)


@op
def _astype(x, *, dtype):
    return x.astype(dtype), (same,)


def astype(x, dtype):
    """x as another dtype, x itself where it has that one; the gradient comes back in x's own. Integers carry none."""
    if np.dtype(dtype).kind == "f":
        x = as_tensor(x)
        return x if x.dtype == dtype else _astype(x, dtype=dtype)
    return as_tensor(as_tensor(x).data.astype(dtype))


# --- reductions: axis is None (all), an int or a tuple ---------------------------------------------------------------


def axis_of(x, axis, name):
    """axis counted from 0, or an error that names the shape."""
    if isinstance(axis, bool) or not hasattr(axis, "__index__"):
        raise TypeError(f"{name} needs an axis that is an integer, got {axis!r}")
    if not -x.ndim <= operator.index(axis) < x.ndim:
        raise ValueError(f"{name} along axis {axis} needs a tensor that has this axis, got shape {x.shape}")
    return operator.index(axis) % x.ndim


def axes_of(x, axis, name):
    """None (all axes), an integer or several, as a tuple of axes counted from 0."""
    axes = range(x.ndim) if axis is None else axis if isinstance(axis, tuple | list) else (axis,)
    return tuple(axis_of(x, a, name) for a in axes)


@op
def sum(x, *, axis=None, keepdims=False):
    xp = namespace(x)
    axes = axes_of(x, axis, "sum")
    total = xp.sum(widen(x), axis=axes, keepdims=keepdims)
    if x.dtype == np.float16:
        total = total.astype(np.float16)
    return total, lambda grad: (xp.broadcast_to(_keep(grad, x, axes), x.shape),)


def _keep(reduced, x, axes):
    """A reduction's result with the reduced axes back as axes of length 1."""
    return reduced.reshape([1 if a in axes else n for a, n in enumerate(x.shape)])


@op
def mean(x, *, axis=None, keepdims=False):
    xp = namespace(x)
    axes = axes_of(x, axis, "mean")
    average = xp.mean(_real(x), axis=axes, keepdims=keepdims)
    count = x.size // average.size if average.size else 1
    return average.astype(real_dtype(x)), lambda grad: (xp.broadcast_to(_keep(widen(grad), x, axes) / count, x.shape),)


def var(x, axis=None, correction=0, keepdims=False):
    """The mean squared distance from the mean; correction=1 divides by n - 1 (the unbiased estimate)."""
    x = as_tensor(x)
    wide = astype(x, np.float32) if x.dtype == np.float16 else x
    centred = wide - mean(wide, axis=axis, keepdims=True)
    spread = mean(centred * centred, axis=axis, keepdims=keepdims)
    count = x.size // spread.size if spread.size else 1
    if correction:
        if count <= correction:
            raise ValueError(f"var with correction={correction} needs more elements, got {count} in shape {x.shape}")
        spread = spread * (count / (count - correction))
    return astype(spread, real_dtype(x))


@op
def max(x, *, axis=None, keepdims=False):
    """The largest element; tied ones share the gradient equally."""
    return _extreme_along(x, "max", axis, keepdims)


@op
def min(x, *, axis=None, keepdims=False):
    """The smallest element; tied ones share the gradient equally."""
    return _extreme_along(x, "min", axis, keepdims)


def _extreme_along(x, name, axis, keepdims):
    xp = namespace(x)
    axes = axes_of(x, axis, name)
    if math.prod(x.shape[a] for a in axes) == 0:
        raise ValueError(f"{name} needs at least one element along axis {axis}, got shape {x.shape}")
    found = getattr(xp, name)(x, axis=axes, keepdims=True)

    def vjp(grad):
        hit = x == found
        tied = xp.maximum(hit.sum(axis=axes, keepdims=True), 1)  # none where found is NaN
        return (_keep(grad, x, axes) * (hit / tied),)

    return (found if keepdims else found.squeeze(axes)), vjp


def argmax(x, axis=None):
    """Index of the largest element: integers, without a gradient."""
    data = as_tensor(x).data
    axis = None if axis is None else axis_of(data, axis, "argmax")
    return as_tensor(namespace(data).asarray(data.argmax(axis=axis)))


def stable_peak(x, axis):
    """What to subtract before exp so that it cannot overflow: the row's maximum, or 0 where that is -inf."""
    xp = namespace(x)
    if x.shape[axis] == 0:
        return xp.zeros_like(x, shape=())
    peak = xp.max(x, axis=axis, keepdims=True)
    return xp.where(xp.isneginf(peak), 0, peak)


@op
def logsumexp(x, *, axis=-1, keepdims=False):
    """log(sum(exp(x))) along one axis. All -inf, or nothing to sum: -inf, with gradient 0. +inf anywhere gives NaN."""
    xp = namespace(x)
    axis = axis_of(x, axis, "logsumexp")
    wide = _real(x)
    peak = stable_peak(wide, axis)
    with np.errstate(all="ignore"):  # log 0 is the -inf that is promised, inf - inf the NaN, and -max - max is -inf
        powers = xp.exp(wide - peak)
        total = xp.sum(powers, axis=axis, keepdims=True)
        result = xp.log(total) + peak

    def vjp(grad):
        return (_keep(grad, x, (axis,)) * (powers / xp.where(total == 0, 1, total)),)

    return (result if keepdims else result.squeeze(axis)).astype(real_dtype(x)), vjp


@op
def log_softmax(x, *, axis=-1):
    """log of softmax, finite where softmax itself underflows; -inf where x is -inf."""
    xp = namespace(x)
    axis = axis_of(x, axis, "log_softmax")
    wide = _real(x)
    peak = stable_peak(wide, axis)
    with np.errstate(all="ignore"):
        total = xp.sum(xp.exp(wide - peak), axis=axis, keepdims=True)
        result = wide - peak - xp.log(xp.where(total == 0, 1, total))
        rounded = result.astype(real_dtype(x))

    def vjp(grad):
        wide_grad = widen(grad)
        return (wide_grad - xp.exp(result) * xp.sum(wide_grad, axis=axis, keepdims=True),)

    return rounded, vjp


def real_dtype(x):
    return x.dtype if x.dtype.kind == "f" else np.dtype(float)


def _real(x):
    """x in the floating-point type it is accumulated in: at least float32."""
    return widen(x.astype(real_dtype(x), copy=False))


# --- products --------------------------------------------------------------------------------------------------------


@op
def matmul(a, b):
    """(..., n, k) @ (..., k, m) -> (..., n, m), a 1-D side being a row on the left and a column on the right."""
    if not shape_of(a) or not shape_of(b):
        raise ValueError(f"matmul needs at least one axis on both sides, got shapes {shape_of(a)} and {shape_of(b)}")
    if a.shape[-1] != b.shape[-2 if b.ndim > 1 else 0]:
        raise ValueError(f"matmul needs (..., n, k) @ (..., k, m), got {a.shape} @ {b.shape}")
    rows, columns = (a[None] if a.ndim == 1 else a), (b[:, None] if b.ndim == 1 else b)
    batch_of(rows.shape[:-2], columns.shape[:-2], "matmul", a, b)
    product = matrix_product(rows, columns)
    shape = product.shape[:-2] + product.shape[-2:][a.ndim == 1 : 1 if b.ndim == 1 else 2]

    def d_a(grad):
        result = matrix_product(grad.reshape(product.shape), columns.swapaxes(-1, -2))
        return result.squeeze(-2) if a.ndim == 1 else result

    def d_b(grad):
        result = matrix_product(rows.swapaxes(-1, -2), grad.reshape(product.shape))
        return result.squeeze(-1) if b.ndim == 1 else result

    return product.reshape(shape), (d_a, d_b)


def matrix_product(a, b):
    """a @ b on arrays; float16 is accumulated in float32."""
    if a.dtype == np.float16 or b.dtype == np.float16:
        return (widen(a) @ widen(b)).astype(np.result_type(a.dtype, b.dtype))
    return a @ b


def selective_product(a, b):
    """a @ b where a zero in a leaves out its row of b, though 0 * nan is nan: what is masked out cannot leak."""
    xp = namespace(a, b)
    finite = xp.isfinite(b)
    if finite.all():
        return matrix_product(a, b)
    spoiled = (a != 0).astype(np.float32) @ (~finite).astype(np.float32) > 0
    return xp.where(spoiled, math.nan, matrix_product(a, xp.where(finite, b, 0)))


def dot_along(a, b, axis):
    """sum(a * b) over an axis, which stays with length 1, without a table of the products."""
    a, b = a.swapaxes(axis, -1), b.swapaxes(axis, -1)
    return namespace(a, b).einsum("...i,...i->...", a, b)[..., None].swapaxes(axis, -1)


def batch_of(a_shape, b_shape, name, a, b):
    """The leading axes broadcast together, or a ValueError with both shapes."""
    try:
        return np.broadcast_shapes(a_shape, b_shape)
    except ValueError:
        raise ValueError(f"{name} needs leading axes that broadcast, got shapes {a.shape} and {b.shape}") from None


# --- shape -----------------------------------------------------------------------------------------------------------


@op
def _reshape(x, *, shape):
    try:
        return x.reshape(shape), (lambda grad: grad.reshape(x.shape),)
    except ValueError:
        raise ValueError(f"cannot reshape {x.shape} ({x.size} elements) into {shape}") from None


def reshape(x, *shape):
    """x in another shape: reshape(x, 2, -1) or reshape(x, (2, -1))."""
    return _reshape(x, shape=shape[0] if len(shape) == 1 and isinstance(shape[0], tuple | list) else shape)


@op
def permute_dims(x, *, axes=None):
    """x with its axes in another order; reversed by default."""
    if axes is not None and sorted(a % x.ndim if x.ndim else a for a in axes) != list(range(x.ndim)):
        raise ValueError(f"permute_dims needs each axis of shape {x.shape} once, got axes {axes}")
    undo = None if axes is None else sorted(range(x.ndim), key=lambda i: axes[i] % x.ndim)
    return x.transpose(axes), (lambda grad: grad.transpose(undo),)


@op
def swapaxes(x, *, axis1=-1, axis2=-2):
    return x.swapaxes(axis1, axis2), (lambda grad: grad.swapaxes(axis1, axis2),)


@op
def expand_dims(x, *, axis):
    return namespace(x).expand_dims(x, axis), (lambda grad: grad.reshape(x.shape),)


@op
def squeeze(x, *, axis=None):
    return namespace(x).squeeze(x, axis=axis), (lambda grad: grad.reshape(x.shape),)


@op
def broadcast_to(x, *, shape):
    return namespace(x).broadcast_to(x, shape), (same,)


@op
def _concat(*parts, axis):
    xp = namespace(*parts)
    axis = axis_of(parts[0], axis, "concat")
    ends = np.cumsum([part.shape[axis] for part in parts])[:-1]
    return xp.concatenate(parts, axis=axis), lambda grad: xp.split(grad, [int(end) for end in ends], axis=axis)


def concat(tensors, axis=0):
    """The tensors one after another along an axis that they have already."""
    return _concat(
        *_several(tensors, "concat", lambda shape: (*shape[:axis], -1, *shape[axis + 1 or len(shape) :])), axis=axis
    )


def stack(tensors, axis=0):
    """The tensors side by side along a new axis."""
    return concat([expand_dims(t, axis=axis) for t in _several(tensors, "stack", lambda shape: shape)], axis=axis)


def _several(tensors, name, common):
    """The tensors as a list, if there is one and `common` gives the same for the shape of each."""
    tensors = list(tensors)
    device = next((t.device for t in tensors if isinstance(t, Tensor)), None)
    tensors = [t if isinstance(t, Tensor) else as_tensor(t, device=device) for t in tensors]
    shapes = [t.shape for t in tensors]
    if len({common(shape) for shape in shapes}) != 1:
        raise ValueError(f"{name} needs one tensor or more whose shapes agree on the other axes, got {shapes}")
    return tensors


@op
def getitem(x, *, index):
    """x[index]: slices, integers, integer arrays (repeats add up in the gradient), boolean masks, None and '...'."""
    try:
        result = x[index]
    except IndexError as error:
        raise IndexError(f"cannot index a tensor of shape {x.shape}: {error}") from None
    parts = index if type(index) is tuple else (index,)
    is_basic = all(isinstance(i, int | np.integer | slice | type(None) | type(...)) for i in parts)

    def vjp(grad):
        full = namespace(x).zeros_like(x, dtype=grad.dtype)
        if is_basic:
            full[index] = grad
        else:
            add_at(full, index, grad)
        return (full,)

    return result, vjp


def _index(index):
    """An index as arrays take it; arrays in it are copied, since the caller may change them before backward."""
    if isinstance(index, tuple):
        return tuple(_index(i) for i in index)
    if isinstance(index, list):
        index = np.asarray(index, dtype=None if len(index) else int)
    data = index.data if isinstance(index, Tensor) else index
    return data.copy() if hasattr(data, "copy") else data


def take(x, indices, axis=0):
    """The slices of x at integer indices along an axis: rows of an embedding table, for one."""
    data = as_tensor(indices).data
    if data.dtype.kind not in "iu":
        raise TypeError(f"take needs integer indices, got dtype {data.dtype}")
    x = as_tensor(x)
    return x[(slice(None),) * axis_of(x, axis, "take") + (data,)]


# --- derived ---------------------------------------------------------------------------------------------------------


@op
def normalize(x, *, axis=-1, eps=1e-12):
    """x / max(|x|, eps): vectors of length 1. A zero vector stays zero, with gradient 0."""
    xp = namespace(x)
    wide = _real(x)
    peak = xp.max(xp.abs(wide), axis=axis, keepdims=True)  # squares of x / peak neither overflow nor vanish
    length = peak * xp.sqrt(xp.sum((wide / xp.where(peak == 0, 1, peak)) ** 2, axis=axis, keepdims=True))
    inverse = xp.where(length == 0, 0, 1 / xp.maximum(length, eps))
    unit = wide * inverse
    # below eps the divisor is a constant, so the length has no gradient there
    along = xp.where(length > eps, unit, 0)

    def vjp(grad):
        return ((grad - along * dot_along(grad, unit, axis)) * inverse,)

    return unit.astype(real_dtype(x), copy=False), vjp


# --- Tensor's operators ----------------------------------------------------------------------------------------------


def _compare(relation, a, b):
    if not isinstance(b, Tensor | np.ndarray | np.generic | int | float) and not is_array(b):
        return NotImplemented
    return as_tensor(relation(a.data, b.data if isinstance(b, Tensor) else b), device=a.device)


Tensor.__add__ = Tensor.__radd__ = add
Tensor.__sub__, Tensor.__rsub__ = subtract, lambda self, other: subtract(other, self)
Tensor.__mul__ = Tensor.__rmul__ = multiply
Tensor.__truediv__, Tensor.__rtruediv__ = divide, lambda self, other: divide(other, self)
Tensor.__pow__, Tensor.__rpow__ = power, lambda self, other: power(other, self)
Tensor.__matmul__, Tensor.__rmatmul__ = matmul, lambda self, other: matmul(other, self)
Tensor.__neg__, Tensor.__abs__ = negative, abs
Tensor.__lt__ = lambda self, other: _compare(operator.lt, self, other)
Tensor.__le__ = lambda self, other: _compare(operator.le, self, other)
Tensor.__gt__ = lambda self, other: _compare(operator.gt, self, other)
Tensor.__ge__ = lambda self, other: _compare(operator.ge, self, other)
Tensor.__eq__ = lambda self, other: _compare(operator.eq, self, other)  # type: ignore[method-assign]
Tensor.__ne__ = lambda self, other: _compare(operator.ne, self, other)  # type: ignore[method-assign]
Tensor.__getitem__ = lambda self, index: getitem(self, index=_index(index))
Tensor.T, Tensor.mT = property(permute_dims), property(swapaxes)
Tensor.sum, Tensor.mean, Tensor.max, Tensor.min, Tensor.var, Tensor.argmax = sum, mean, max, min, var, argmax
Tensor.exp, Tensor.log, Tensor.sqrt, Tensor.tanh, Tensor.relu, Tensor.sigmoid = exp, log, sqrt, tanh, relu, sigmoid
Tensor.abs, Tensor.clip, Tensor.astype, Tensor.reshape, Tensor.squeeze = abs, clip, astype, reshape, squeeze
Tensor.swapaxes, Tensor.permute_dims = swapaxes, permute_dims
