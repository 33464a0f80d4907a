"""Keeps a gradient on every node while it walks, as micrograd does; arithmetic in loops over single numbers."""

import math

import numpy as np


class Tensor:
    __array_ufunc__ = None

    def __init__(self, data, inputs=(), vjp=None):
        self.data = np.asarray(data, dtype=float)
        self.inputs, self.vjp, self.grad = inputs, vjp, None

    def backward(self, grad=None):
        if grad is None and self.data.size > 1:
            raise ValueError(f"grad is needed for shape {self.data.shape}")
        order = self.ancestors()
        for node in order:
            if node.vjp is not None:
                node.grad = None
        self.receive(np.ones_like(self.data) if grad is None else grad)
        for node in order:
            if node.vjp is not None:
                for source, part in zip(node.inputs, node.vjp(node.grad), strict=True):
                    source.receive(part)

    def receive(self, part):
        self.grad = np.array(part) if self.grad is None else np.add(self.grad, part)

    def ancestors(self):
        """All nodes, each before its inputs: depth first, with the unfinished nodes on a stack of our own."""
        found, seen, path = [], {self}, [(self, iter(self.inputs))]
        while path:
            node, rest = path[-1]
            source = next((each for each in rest if each not in seen), None)
            if source is None:
                found.append(node)
                path.pop()
            else:
                seen.add(source)
                path.append((source, iter(source.inputs)))
        return found[::-1]

    def __add__(self, other):
        return add(self, as_tensor(other))

    def __radd__(self, other):
        return add(as_tensor(other), self)

    def __sub__(self, other):
        return add(self, multiply(as_tensor(-1.0), as_tensor(other)))

    def __rsub__(self, other):
        return as_tensor(other) - self

    def __mul__(self, other):
        return multiply(self, as_tensor(other))

    def __rmul__(self, other):
        return multiply(as_tensor(other), self)

    def __neg__(self):
        return -1.0 * self

    def __truediv__(self, other):
        return divide(self, as_tensor(other))

    def __rtruediv__(self, other):
        return divide(as_tensor(other), self)

    def __matmul__(self, other):
        return matmul(self, as_tensor(other))

    def __rmatmul__(self, other):
        return matmul(as_tensor(other), self)


def as_tensor(x):
    return x if isinstance(x, Tensor) else Tensor(x)


def sum_to_shape(grad, shape):
    result = np.zeros(shape)
    padded = (1,) * (np.ndim(grad) - len(shape)) + tuple(shape)
    flat = result.reshape(padded)
    for at in np.ndindex(*np.shape(grad)):
        flat[tuple(0 if size == 1 else i for i, size in zip(at, padded, strict=True))] += grad[at]
    return result


def add(a, b):
    def vjp(grad):
        return sum_to_shape(grad, a.data.shape), sum_to_shape(grad, b.data.shape)

    return Tensor(a.data + b.data, (a, b), vjp)


def multiply(a, b):
    def vjp(grad):
        x, y = np.broadcast_arrays(a.data, b.data)
        by_a, by_b = np.empty(grad.shape), np.empty(grad.shape)
        for at in np.ndindex(*grad.shape):
            by_a[at], by_b[at] = grad[at] * y[at], grad[at] * x[at]
        return sum_to_shape(by_a, a.data.shape), sum_to_shape(by_b, b.data.shape)

    return Tensor(a.data * b.data, (a, b), vjp)


def divide(a, b):
    def vjp(grad):
        by_b = -np.asarray(grad * a.data) * b.data**-2.0
        return sum_to_shape(np.asarray(grad / b.data), a.data.shape), sum_to_shape(by_b, b.data.shape)

    return Tensor(a.data / b.data, (a, b), vjp)


def exp(a):
    result = np.empty(a.data.shape)
    for at in np.ndindex(*a.data.shape):
        result[at] = math.exp(a.data[at])
    return Tensor(result, (a,), lambda grad: (result * grad,))


def total(a, axis=None, keepdims=False):
    result = np.sum(a.data, axis=axis, keepdims=keepdims)

    def vjp(grad):
        if axis is None:
            return (np.full(a.data.shape, np.asarray(grad).item()),)
        grad = grad if keepdims else np.expand_dims(grad, axis)
        return (np.repeat(grad, a.data.shape[axis], axis=axis),)

    return Tensor(result, (a,), vjp)


def transpose(a):
    return Tensor(a.data.swapaxes(-1, -2), (a,), lambda grad: (grad.swapaxes(-1, -2),))


def matmul(a, b):
    def vjp(grad):
        by_a = sum(grad[..., None, k] * b.data[..., None, :, k] for k in range(grad.shape[-1]))
        by_b = sum(a.data[..., i, :, None] * grad[..., i, None, :] for i in range(grad.shape[-2]))
        return sum_to_shape(by_a, a.data.shape), sum_to_shape(by_b, b.data.shape)

    product = sum(a.data[..., :, j, None] * b.data[..., None, j, :] for j in range(a.data.shape[-1]))
    return Tensor(product, (a, b), vjp)
