"""A tensor that differentiates: nodes, eight functions with their vjps, and backward in one walk over the graph."""

import numpy as np


class Tensor:
    def __init__(self, data, inputs=(), vjp=None):
        self.data = np.asarray(data, dtype=float)
        self.inputs, self.vjp, self.grad = inputs, vjp, None

    def backward(self, grad=None):
        if grad is None:
            if self.data.size != 1:
                raise ValueError(f"backward() without grad needs one element, got shape {self.data.shape}")
            grad = np.ones_like(self.data)
        arrived = {id(self): grad}
        for node in reversed(inputs_first(self)):
            whole = arrived.pop(id(node))
            if node.vjp is None:
                node.grad = np.array(whole) if node.grad is None else node.grad + whole
                continue
            for source, part in zip(node.inputs, node.vjp(whole), strict=True):
                known = arrived.get(id(source))
                arrived[id(source)] = part if known is None else known + part

    __array_ufunc__ = None

    def __add__(self, other):
        return add(self, as_tensor(other))

    def __radd__(self, other):
        return add(as_tensor(other), self)

    def __neg__(self):
        return multiply(self, as_tensor(-1))

    def __sub__(self, other):
        return add(self, -as_tensor(other))

    def __rsub__(self, other):
        return add(as_tensor(other), -self)

    def __mul__(self, other):
        return multiply(self, as_tensor(other))

    def __rmul__(self, other):
        return multiply(as_tensor(other), self)

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


def inputs_first(last):
    """All nodes that `last` was made from, and itself, each after its inputs."""
    order, seen, waiting = [], set(), [(last, False)]
    while waiting:
        node, inputs_done = waiting.pop()
        if inputs_done:
            order.append(node)
        elif id(node) not in seen:
            seen.add(id(node))
            waiting.append((node, True))
            waiting.extend((source, False) for source in node.inputs)
    return order


def sum_to_shape(grad, shape):
    grad = np.sum(grad, axis=tuple(range(grad.ndim - len(shape))))
    repeated = tuple(i for i, size in enumerate(shape) if size != grad.shape[i])
    return np.sum(grad, axis=repeated, keepdims=True)


def add(a, b):
    def vjp(grad):
        return sum_to_shape(grad, a.data.shape), sum_to_shape(grad, b.data.shape)

    return Tensor(a.data + b.data, (a, b), vjp)


def multiply(a, b):
    def vjp(grad):
        return sum_to_shape(grad * b.data, a.data.shape), sum_to_shape(grad * a.data, b.data.shape)

    return Tensor(a.data * b.data, (a, b), vjp)


def divide(a, b):
    def vjp(grad):
        by_a, by_b = grad / b.data, -grad * a.data / b.data**2
        return sum_to_shape(by_a, a.data.shape), sum_to_shape(by_b, b.data.shape)

    return Tensor(a.data / b.data, (a, b), vjp)


def exp(a):
    result = np.exp(a.data)

    def vjp(grad):
        return (grad * result,)

    return Tensor(result, (a,), vjp)


def total(a, axis=None, keepdims=False):
    def vjp(grad):
        if axis is not None and not keepdims:
            grad = np.expand_dims(grad, axis)
        return (np.broadcast_to(grad, a.data.shape),)

    return Tensor(np.sum(a.data, axis=axis, keepdims=keepdims), (a,), vjp)


def transpose(a):
    def vjp(grad):
        return (np.swapaxes(grad, -1, -2),)

    return Tensor(np.swapaxes(a.data, -1, -2), (a,), vjp)


def matmul(a, b):
    def vjp(grad):
        by_a, by_b = grad @ np.swapaxes(b.data, -1, -2), np.swapaxes(a.data, -1, -2) @ grad
        return sum_to_shape(by_a, a.data.shape), sum_to_shape(by_b, b.data.shape)

    return Tensor(a.data @ b.data, (a, b), vjp)
