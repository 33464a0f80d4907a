"""Tensor, @op, backward, no_grad: the whole of automatic differentiation.

A tensor is an array that remembers which op made it, from what, and that op's vjp: the function that turns the
gradient of the output into gradients of the inputs (vector-Jacobian product). `backward` walks from the result to
the leaves, newest tensor first, and applies each vjp once.
"""

import inspect
import itertools
import sys
from contextvars import ContextVar
from functools import wraps
from heapq import heappop, heappush
from typing import Any, Protocol, cast

import numpy as np
from numpy import ndarray

from tinyattn.backend import check_device, is_array, is_cupy, namespace, to_device

_FLOATS = tuple(map(np.dtype, (np.float16, np.float32, np.float64)))
_order = itertools.count()  # a tensor is newer than everything it was made from
_new = object.__new__
_recording = ContextVar("_recording", default=True)


class Tensor:
    """An array with a gradient.

    data           numbers of any shape: list, scalar, NumPy or CuPy array, or Tensor. It is copied; `as_tensor` shares.
    requires_grad  collect d(loss)/d(this) in `.grad`; for floating-point data only.
    dtype, device  convert on the way in; device is 'cpu', 'cuda' or 'emulated' (CUDA kernels run on the CPU).

    `.grad` is None or an array of the same library, shape and dtype as `.data`. Arrays keep their dtype (float16,
    float32, float64, integers, bool), Python floats become float64. TypeError for anything that is not a number.
    """

    __slots__ = (
        "__weakref__",
        "_inputs",
        "_op",
        "_order",
        "_retains",
        "_vjp",
        "data",
        "device",
        "grad",
        "requires_grad",
    )
    __array_ufunc__ = None  # `ndarray + Tensor` leaves the sum to Tensor.__radd__; so does CuPy
    __hash__ = object.__hash__  # == compares elements, sets and dicts go by identity

    # fmt: off
    data: Any; device: Any; grad: Any; requires_grad: Any; _inputs: Any; _op: Any; _order: Any; _retains: Any; _vjp: Any
    # ops.py fills these in, since an operator is an op
    __add__: Any; __radd__: Any; __sub__: Any; __rsub__: Any; __mul__: Any; __rmul__: Any; __neg__: Any; __abs__: Any
    __truediv__: Any; __rtruediv__: Any; __pow__: Any; __rpow__: Any; __matmul__: Any; __rmatmul__: Any
    __lt__: Any; __le__: Any; __gt__: Any; __ge__: Any; __getitem__: Any
    sum: Any; mean: Any; max: Any; min: Any; var: Any; argmax: Any; exp: Any; log: Any; sqrt: Any; tanh: Any; relu: Any
    sigmoid: Any; abs: Any; clip: Any; astype: Any; reshape: Any; squeeze: Any; swapaxes: Any; permute_dims: Any
    T: Any; mT: Any
    # fmt: on

    def __init__(self, data, requires_grad=False, dtype=None, device=None):
        source = data.data if isinstance(data, Tensor) else data
        array = _numbers(source, dtype, copy=True)
        if device is None:
            device = data.device if isinstance(data, Tensor) else "cuda" if is_cupy(array) else "cpu"
        if requires_grad and array.dtype.kind != "f":
            raise TypeError(f"only floating-point tensors have gradients, got dtype {array.dtype}: give dtype=float")
        _fill(self, to_device(array, device), device, bool(requires_grad))

    shape = property(lambda self: self.data.shape)
    dtype = property(lambda self: self.data.dtype)
    ndim = property(lambda self: self.data.ndim)
    size = property(lambda self: self.data.size)

    def backward(self, grad=None, create_graph=False):
        """Adds d(self)/d(leaf) to `.grad` of every leaf that requires gradients, and of tensors that `retain_grad`.

        grad is d(loss)/d(self), of self's shape; it may be left out for a tensor of one element. Calling backward a
        second time adds the same gradients again. There are no second derivatives: create_graph raises.
        """
        if create_graph or (isinstance(grad, Tensor) and grad.requires_grad):
            raise NotImplementedError("tinyattn offers first derivatives only: a gradient is an array, not a tensor")
        if not self.requires_grad:
            raise ValueError("backward() needs a tensor that depends on one with requires_grad=True, this one does not")
        for x, box in _gradients(self, _upstream(self, grad)):
            xp = namespace(box[0])
            x.grad = _taken(box) if x.grad is None else xp.asarray(x.grad + box[0])

    def detach(self):
        """The same data with no history."""
        return _tensor(self.data, self.device, False)

    def retain_grad(self):
        """Keep `.grad` of this tensor too when backward passes through it; returns self."""
        self._retains = True
        return self

    def zero_grad(self):
        self.grad = None

    def numpy(self):
        """The data as a NumPy array: shared on the CPU, copied from the GPU."""
        return to_device(self.data, "cpu")

    def item(self):
        """The one element as a Python number."""
        if self.size != 1:
            raise ValueError(f"item() needs a tensor of one element, got shape {self.shape}")
        return self.data.item()

    def to(self, device):
        """This tensor on another device; gradients flow back to where it came from."""
        return self if device == self.device else _moved(self, device)

    def tolist(self):
        return self.data.tolist()

    def __array__(self, dtype=None, copy=None):
        if self.requires_grad:
            raise TypeError("this tensor requires gradients, which an array cannot carry: use tensor.detach().numpy()")
        if is_cupy(self.data):
            raise TypeError("this tensor is on the GPU: use tensor.numpy() to copy it to the CPU")
        return np.array(self.data, dtype=dtype, copy=copy)

    def __dlpack__(self, **options):
        return self.data.__dlpack__(**options)

    def __dlpack_device__(self):
        return self.data.__dlpack_device__()

    def __reduce__(self):
        """Copies and pickles are leaves of their own, without the gradient."""
        if self._vjp is not None:
            raise TypeError("only a leaf can be copied or pickled, this tensor is an op's result: use tensor.detach()")
        return Tensor, (self.data, self.requires_grad, None, self.device)

    def __format__(self, spec):
        return format(self.item(), spec) if spec else str(self)

    def __repr__(self):
        text = str(self.data) if self.ndim == 0 else np.array2string(self.numpy(), separator=", ", prefix="Tensor(")
        notes = "" if self.dtype == np.float64 else f", dtype={self.dtype}"
        notes += "" if self.device == "cpu" else f", device='{self.device}'"
        return f"Tensor({text}{notes}{', requires_grad=True' if self.requires_grad else ''})"

    def __len__(self):
        if self.ndim == 0:
            raise TypeError("a tensor of shape () has no length")
        return self.shape[0]

    def __iter__(self):
        if self.ndim == 0:
            raise TypeError("a tensor of shape () cannot be iterated: use .item()")
        return (self[i] for i in range(len(self)))

    def __bool__(self):
        return bool(self.item())

    def __float__(self):
        return float(self.item())

    def __int__(self):
        return int(self.item())


def _tensor(data, device, requires_grad, op=None, inputs=(), vjp=None):
    return _fill(_new(Tensor), data, device, requires_grad, op, inputs, vjp)


def _fill(tensor, data, device, requires_grad, op=None, inputs=(), vjp=None):
    tensor.data = data
    tensor.device = device
    tensor.requires_grad = requires_grad
    tensor.grad = None
    tensor._op = op
    tensor._inputs = inputs
    tensor._vjp = vjp
    tensor._retains = False
    tensor._order = next(_order)
    return tensor


def _numbers(data, dtype=None, copy=None):
    """data as an array of real numbers, or a TypeError or ValueError that says what came."""
    if not is_array(data):
        try:
            data = np.array(data, dtype=None, copy=True)
        except ValueError as error:
            raise ValueError(f"expected numbers in rows of equal length, got a ragged {type(data).__name__}") from error
    if data.dtype.kind not in "biuf" or data.dtype.itemsize > 8:
        raise TypeError(f"a tensor holds bool, integers, float16, float32 or float64, got {data.dtype}")
    if type(data) is not np.ndarray and isinstance(data, np.ma.MaskedArray):
        raise TypeError("a tensor has no masked elements, got a MaskedArray: pass its filled() data and a mask")
    dtype = np.dtype(dtype or data.dtype).newbyteorder("=")
    if dtype.kind not in "biuf" or dtype.itemsize > 8:
        raise TypeError(f"dtype must be bool, an integer type, float16, float32 or float64, got {dtype}")
    return namespace(data).array(data, dtype=dtype, copy=copy)


def as_tensor(x, dtype=None, device=None):
    """x as a Tensor that shares x's memory where it can: what you write into x later shows in the tensor."""
    if isinstance(x, Tensor) and dtype in (None, x.dtype) and device in (None, x.device):
        return x
    if isinstance(x, Tensor):
        x, device = x.data, device or x.device
    data = _numbers(x, dtype, copy=None)
    device = device or ("cuda" if is_cupy(data) else "cpu")
    return _tensor(to_device(data, device), device, False)


def from_dlpack(x):
    """A Tensor that shares the memory of another library's array (anything with `__dlpack__`, such as PyTorch's)."""
    if not hasattr(x, "__dlpack_device__"):
        raise TypeError(f"from_dlpack needs an array that offers __dlpack__, got {type(x).__name__}")
    on_cpu = x.__dlpack_device__()[0] == 1
    if on_cpu:
        return as_tensor(np.from_dlpack(x))
    from tinyattn.backend import import_cupy

    return as_tensor(import_cupy().from_dlpack(x))


class no_grad:
    """Ops inside `with no_grad():`, or in a function decorated with `@no_grad()`, leave no graph behind."""

    def __init__(self):
        self._tokens = []

    def __enter__(self):
        self._tokens.append(_recording.set(False))
        return self

    def __exit__(self, *_):
        _recording.reset(self._tokens.pop())

    def __call__(self, function):
        pauses = (inspect.isgeneratorfunction, inspect.isasyncgenfunction, inspect.iscoroutinefunction)
        if any(check(function) for check in pauses):
            raise TypeError(
                f"no_grad cannot decorate the generator {function.__name__}, which would leave it on in the caller "
                "between two items: write `with no_grad():` inside it, around code that does not yield"
            )

        @wraps(function)
        def quietly(*args, **kwargs):
            with no_grad():
                return function(*args, **kwargs)

        return quietly


class Op(Protocol):
    __name__: str
    forward: Any
    cuda: Any

    def __call__(self, *inputs, **settings) -> Tensor: ...


def op(forward) -> Op:
    """Makes `forward`, a function on arrays, into an op on tensors.

    forward takes its differentiable inputs by position and its settings by keyword and returns (output, vjp). The vjp
    is a function of the output's gradient that returns one gradient for each input, or a tuple of such functions,
    one for each input, of which only those that are needed are called. The engine undoes broadcasting, converts
    dtypes and adds up. An input may be a Tensor, an array (not copied), a number or a list. Inputs may also be given
    by name, and settings by position after the inputs: softmax(x, -1). None is an input only where the default is.

    op.forward is the function on arrays; `@op.cuda` registers its raw kernel, taken on 'cuda' and 'emulated'.
    """
    name = forward.__name__
    parameters = inspect.signature(forward).parameters.values()
    input_names = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    setting_names = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
    arity = None if any(p.kind is p.VAR_POSITIONAL for p in parameters) else len(input_names)
    defaults = {p.name: p.default for p in parameters if p.default is not p.empty and p.name in input_names}
    takes_none = None in defaults.values()
    kernel = None

    @wraps(forward)
    def apply(*inputs, **settings):
        if len(inputs) != arity and arity is not None:
            inputs = _bind(name, input_names, defaults, setting_names, inputs, settings)
        arrays: list = []
        kept: list = []
        device = None
        needs_grad = False
        for x in inputs:
            if isinstance(x, Tensor):
                arrays.append(x.data)
                if x.requires_grad:
                    needs_grad = True
                    kept.append(x)
                else:
                    kept.append(None)
                if device is None:
                    device = x.device
                elif device != x.device:
                    raise ValueError(
                        f"{name} needs all tensors on one device, got {device!r} and {x.device!r}: move one with .to()"
                    )
            else:
                arrays.append(_constant(x, name, takes_none))
                kept.append(None)
        if device is None:
            device = "cuda" if any(is_cupy(x) for x in arrays) else "cpu"
            if not any(is_array(x) for x in arrays):
                arrays = [x if x is None else np.asarray(x) for x in arrays]
        run = forward if kernel is None or device == "cpu" else kernel
        try:
            result = run(*arrays, **settings)
        except TypeError:
            namespace(*arrays)  # says so where NumPy and CuPy arrays met
            raise
        return _node(name, result, device, kept if needs_grad else None)

    # Ops on small arrays spend half of their time in this file, so what most of them are called with, a tensor, two
    # tensors, or a tensor and a number, is spared the loop above.
    @wraps(forward)
    def unary(*inputs, **settings):
        if len(inputs) != 1 or settings or kernel or not isinstance(x := inputs[0], Tensor):
            return apply(*inputs, **settings)
        return _node(name, forward(x.data), x.device, inputs if x.requires_grad else None)

    @wraps(forward)
    def binary(*inputs, **settings):
        if len(inputs) != 2 or settings or kernel or not isinstance(a := inputs[0], Tensor):
            return apply(*inputs, **settings)
        b = inputs[1]
        if type(b) is float or type(b) is int:
            return _node(name, forward(a.data, b), a.device, (a, None) if a.requires_grad else None)
        if not isinstance(b, Tensor) or a.device != b.device:
            return apply(a, b)
        kept: tuple | None = inputs
        if not b.requires_grad:
            kept = (a, None) if a.requires_grad else None
        elif not a.requires_grad:
            kept = (None, b)
        return _node(name, forward(a.data, b.data), a.device, kept)

    def cuda(function):
        nonlocal kernel
        kernel = function
        return function

    made = cast(Any, unary if arity == 1 else binary if arity == 2 else apply)
    made.forward, made.cuda = forward, cuda
    return made


def _node(name, result, device, inputs):
    """The tensor that an op returns; inputs are those that need a gradient, each in its place, or None."""
    try:
        output, vjp = result
    except (TypeError, ValueError):
        raise TypeError(f"the op {name} must return a pair (output, vjp), got {_describe(result)}") from None
    if type(output) is not ndarray and not is_cupy(output):
        output = np.asarray(output)
    if inputs is None or not _recording.get():
        return _tensor(output, device, False)
    return _fill(_new(Tensor), output, device, True, name, inputs, vjp)


def _bind(name, input_names, defaults, setting_names, inputs, settings):
    """The inputs alone and in order, as called with some of them by name or with settings by position."""
    arity = len(input_names)
    if len(inputs) > arity + len(setting_names):
        raise TypeError(f"{name} takes {', '.join(input_names + setting_names)}, got {len(inputs)} arguments")
    for setting, value in zip(setting_names, inputs[arity:], strict=False):
        if setting in settings:
            raise TypeError(f"{name} got {setting} twice")
        settings[setting] = value
    named = {n: settings.pop(n) for n in input_names[len(inputs) :] if n in settings}
    missing = [n for n in input_names[len(inputs) :] if n not in named and n not in defaults]
    if missing:
        raise TypeError(f"{name} needs {' and '.join(input_names)}, got no {' and no '.join(missing)}")
    return inputs[:arity] + tuple(named.get(n, defaults.get(n)) for n in input_names[len(inputs) :])


def _constant(x, name, takes_none):
    """An input without a gradient, as ops take it. NumPy scalars become Python's, which never widen a float32."""
    if type(x) in (float, int, bool) or (type(x) is ndarray and x.dtype in _FLOATS) or (x is None and takes_none):
        return x
    if isinstance(x, np.generic) and x.dtype.kind in "biuf" and x.dtype.itemsize <= 8:
        return x.item()
    if is_array(x) or isinstance(x, list | tuple):
        return _numbers(x)
    raise TypeError(f"{name} works on tensors, arrays and numbers, got {_describe(x)}")


def _describe(x):
    if is_array(x):
        return f"an array of shape {x.shape}"
    return f"{type(x).__name__} of {len(x)}" if isinstance(x, tuple | list) else type(x).__name__


def _gradients(tensor, grad):
    """(leaf, [its gradient]) for all leaves and what retains its gradient; the list alone holds the array."""
    totals = {tensor: grad}
    newest = None if tensor._vjp is None else tensor
    others: list = []  # a heap, for where the graph forks: a chain needs none
    while newest is not None:
        node, newest = newest, None
        grad = totals[node] if node._retains else totals.pop(node)
        vjp = node._vjp
        rules = vjp if type(vjp) is tuple else vjp(grad)
        if not (type(rules) is tuple or type(rules) is list) or len(rules) != len(node._inputs):
            raise ValueError(
                f"the vjp of {node._op} must give a tuple of {len(node._inputs)}, one gradient for each input, "
                f"got {_describe(rules)}"
            )
        for i, x in enumerate(node._inputs):
            if x is None:
                continue
            g = rules[i]
            if rules is vjp and g is not None:
                g = g(grad)
            data = x.data
            if getattr(g, "shape", None) != data.shape or g.dtype is not data.dtype:
                g = _fit(g, data, node._op)
            if x in totals:
                totals[x] = totals[x] + g
                continue
            totals[x] = g
            if x._vjp is not None:
                if newest is None:
                    newest = x
                else:
                    heappush(others, (-x._order, x))
        if others:
            if newest is not None:
                heappush(others, (-newest._order, newest))
            newest = heappop(others)[1]
    return [(x, [totals.pop(x)]) for x in list(totals)]


def _taken(box):
    """The array from a list of one; a copy of it if anybody else refers to it as well."""
    array, references = _counted(box)
    if references == _ALONE and type(array) is ndarray and array.base is None:
        return array
    return namespace(array).array(array)


def _counted(box):
    array = box.pop()
    return array, sys.getrefcount(array)


_ALONE = _counted([np.empty(0)])[1]  # how many references Python itself counts depends on its version


def _upstream(tensor, grad):
    """The gradient that backward starts from."""
    xp = namespace(tensor.data)
    if grad is None:
        if tensor.size != 1:
            raise ValueError(
                f"backward() without a gradient needs a result of one element, got shape {tensor.shape}: "
                "reduce it with .sum() or .mean(), or pass grad of that shape"
            )
        return xp.ones_like(tensor.data)
    array = grad.data if isinstance(grad, Tensor) else grad if is_array(grad) else _numbers(grad)
    if array.shape != tensor.shape:
        raise ValueError(f"backward(grad) needs grad of the result's shape {tensor.shape}, got {array.shape}")
    if array.dtype.kind not in "biuf":
        raise TypeError(f"backward(grad) needs real numbers, got dtype {array.dtype}")
    return xp.asarray(array, dtype=tensor.dtype)


def _fit(grad, data, op_name):
    """grad summed over the axes along which data was broadcast, as data's dtype."""
    if grad is None:
        raise ValueError(f"the vjp of {op_name} gave None for an input of shape {data.shape} that requires a gradient")
    xp = namespace(data)
    grad = xp.asarray(grad)
    lead = grad.ndim - data.ndim
    stretched = tuple(i for i, n in enumerate(grad.shape) if i < lead or (data.shape[i - lead] == 1 and n != 1))
    if lead < 0 or any(n != m for n, m in zip(grad.shape[lead:], data.shape, strict=True) if m != 1):
        raise ValueError(
            f"the vjp of {op_name} gave a gradient of shape {grad.shape} for an input of shape {data.shape}"
        )
    if stretched:
        # float16 is summed in float32: 4,096 halves of one would stop at 2,048
        wide = np.float32 if grad.dtype == np.float16 else grad.dtype
        grad = grad.sum(axis=stretched, dtype=wide).reshape(data.shape)
    return grad.astype(data.dtype, copy=False)


def _moved(tensor, device):
    check_device(device)
    kept = (tensor,) if tensor.requires_grad and _recording.get() else ()
    back = (lambda grad: to_device(grad, tensor.device),)
    history = ("to", kept, back) if kept else ()
    return _tensor(to_device(tensor.data, device), device, bool(kept), *history)
