"""Numbers the nodes as they are made: newest first is an order in which every use comes before its node."""

import heapq
import itertools

import numpy as np


class Tensor:
    __array_ufunc__ = None
    numbers = itertools.count()

    def __init__(self, data, inputs=(), vjp=None):
        self.data = np.asarray(data, dtype=float)
        self.inputs, self.vjp, self.grad = inputs, vjp, None
        self.number = next(Tensor.numbers)

    def backward(self, grad=None):
        if grad is None and self.data.size != 1:
            raise ValueError("a gradient is needed for more than one element")
        gradients = {self.number: np.ones(self.data.shape) if grad is None else np.array(grad)}
        nodes = {self.number: self}
        waiting = [-self.number]
        while waiting:
            number = -heapq.heappop(waiting)
            node, whole = nodes.pop(number), gradients.pop(number)
            if node.vjp is None:
                if node.grad is None:
                    node.grad = np.zeros(node.data.shape)
                node.grad += whole
                continue
            for source, part in zip(node.inputs, node.vjp(whole), strict=True):
                if source.number not in nodes:
                    nodes[source.number] = source
                    gradients[source.number] = np.zeros(source.data.shape)
                    heapq.heappush(waiting, -source.number)
                gradients[source.number] += part


def operators(name, function):
    setattr(Tensor, f"__{name}__", lambda self, other: function(self, as_tensor(other)))
    setattr(Tensor, f"__r{name}__", lambda self, other: function(as_tensor(other), self))


def as_tensor(x):
    return x if isinstance(x, Tensor) else Tensor(x)


def sum_to_shape(grad, shape):
    while grad.ndim > len(shape):
        grad = np.add.reduce(grad, axis=0)
    for axis, size in enumerate(shape):
        if size == 1:
            grad = np.add.reduce(grad, axis=axis, keepdims=True)
    return grad


def elementwise(function, by_a, by_b):
    def op(a, b):
        x, y = a.data, b.data
        result = function(x, y)
        return Tensor(
            result,
            (a, b),
            lambda g: (sum_to_shape(g * by_a(x, y), x.shape), sum_to_shape(g * by_b(x, y), y.shape)),
        )

    return op


add = elementwise(np.add, lambda x, y: 1.0, lambda x, y: 1.0)
subtract = elementwise(np.subtract, lambda x, y: 1.0, lambda x, y: -1.0)
multiply = elementwise(np.multiply, lambda x, y: y, lambda x, y: x)
divide = elementwise(np.divide, lambda x, y: 1 / y, lambda x, y: -x / (y * y))


def exp(a):
    result = np.exp(a.data)
    return Tensor(result, (a,), lambda grad: (grad * result,))


def total(a, axis=None, keepdims=False):
    axes = tuple(range(a.data.ndim)) if axis is None else (axis % a.data.ndim,)
    shape = [1 if i in axes else size for i, size in enumerate(a.data.shape)]
    result = np.sum(a.data, axis=axes, keepdims=keepdims)
    return Tensor(result, (a,), lambda grad: (np.broadcast_to(np.reshape(grad, shape), a.data.shape),))


def transpose(a):
    return Tensor(np.moveaxis(a.data, -1, -2), (a,), lambda grad: (np.moveaxis(grad, -2, -1).copy(),))


def matmul(a, b):
    def vjp(grad):
        by_b = np.swapaxes(np.swapaxes(grad, -1, -2) @ a.data, -1, -2)
        return sum_to_shape(grad @ np.swapaxes(b.data, -1, -2), a.data.shape), sum_to_shape(by_b, b.data.shape)

    return Tensor(np.matmul(a.data, b.data), (a, b), vjp)


for each in ("add", add), ("sub", subtract), ("mul", multiply), ("truediv", divide), ("matmul", matmul):
    operators(*each)
