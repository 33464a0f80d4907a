"""A stand-in for CuPy on machines without a GPU: NumPy inside, CuPy's manners outside, and stricter than CuPy.

Its arrays never become NumPy arrays by themselves, mixing the two raises TypeError, reductions give arrays of shape (),
and NumPy's own functions refuse it. What runs with it asks `namespace` for its functions everywhere. Whether a result
is right on a GPU only a GPU can tell.
"""

import operator
import sys
import types

import numpy as np


class ndarray:
    __module__ = "cupy"
    __array_priority__ = 100
    __hash__ = None

    def __init__(self, inside):
        self.inside = inside

    def __array__(self, *_, **__):
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")

    def __array_function__(self, function, *_):
        raise TypeError(f"numpy.{function.__name__} was called with a CuPy array")

    def __array_ufunc__(self, ufunc, method, *inputs, **options):
        if any(getattr(x, "__array_ufunc__", True) is None for x in inputs):
            return NotImplemented
        return _wrap(getattr(ufunc, method)(*map(_unwrap, inputs), **options))

    def __getattr__(self, name):
        if name in ("shape", "dtype", "ndim", "size", "flags", "strides", "nbytes"):
            return getattr(self.inside, name)
        if name == "T":
            return _wrap(self.inside.T)
        if name in ("item", "tolist"):
            return getattr(self.inside, name)
        if name.startswith("__"):
            raise AttributeError(name)
        return _outside(getattr(self.inside, name))

    def __getitem__(self, index):
        return _wrap(self.inside[_index(index)])

    def __setitem__(self, index, value):
        self.inside[_index(index)] = _unwrap(value)

    def __len__(self):
        return len(self.inside)

    def __bool__(self):
        return bool(self.inside)

    def get(self):
        return self.inside.copy()


def _operator(name):
    function = getattr(operator, name)

    def forward(self, other):
        if getattr(other, "__array_ufunc__", True) is None:
            return NotImplemented
        return _wrap(function(self.inside, _unwrap(other)))

    def backward(self, other):
        return _wrap(function(_unwrap(other), self.inside))

    def in_place(self, other):
        self.inside[...] = function(self.inside, _unwrap(other))
        return self

    setattr(ndarray, f"__i{name.strip('_')}__", in_place)
    setattr(ndarray, f"__{name.strip('_')}__", forward)
    setattr(ndarray, f"__r{name.strip('_')}__", backward)


def _operator_of_one(name):
    function = getattr(operator, name)
    setattr(ndarray, f"__{name}__", lambda self: _wrap(function(self.inside)))


for name in ("add", "sub", "mul", "truediv", "pow", "matmul", "lt", "le", "gt", "ge", "eq", "ne", "and_", "or_"):
    _operator(name)
for name in ("neg", "abs", "invert"):
    _operator_of_one(name)


def _wrap(x):
    if isinstance(x, np.ndarray | np.generic):
        return ndarray(np.asarray(x))
    return type(x)(map(_wrap, x)) if isinstance(x, list | tuple) else x


def _unwrap(x):
    if isinstance(x, np.ndarray):
        raise TypeError("Unsupported type <class 'numpy.ndarray'>")
    if isinstance(x, ndarray):
        return x.inside
    return type(x)(map(_unwrap, x)) if isinstance(x, list | tuple) else x


def _index(index):
    if isinstance(index, tuple):
        return tuple(map(_index, index))
    return index.inside if isinstance(index, ndarray) else index


def _outside(function):
    """A function of NumPy as one that takes and gives the stand-in's arrays."""
    return lambda *args, **options: _wrap(
        function(*map(_unwrap, args), **{name: _unwrap(x) for name, x in options.items()})
    )


def _from_host(x, *args, **options):
    return _wrap(np.asarray(x.inside if isinstance(x, ndarray) else x, *args, **options))


class _Cupy(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(np, name)
        return _outside(found) if callable(found) and not isinstance(found, type) else found


def install(monkeypatch):
    """For one test: `import cupy` gives the stand-in, with one GPU."""
    cupy, cupyx = _Cupy("cupy"), types.ModuleType("cupyx")
    cupy.ndarray, cupy.asarray = ndarray, _from_host
    cupy.array = lambda x, *args, **options: _wrap(np.array(_from_host(x).inside, *args, **options))
    cupy.cuda = types.SimpleNamespace(
        runtime=types.SimpleNamespace(getDeviceCount=lambda: 1), is_available=lambda: True
    )
    cupyx.scatter_add = lambda array, index, values: np.add.at(array.inside, _index(index), _unwrap(values))
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    monkeypatch.setitem(sys.modules, "cupyx", cupyx)
    return cupy
