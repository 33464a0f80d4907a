"""Counts every node's uses first, and visits a node when its last use has been heard (Kahn); sums as einsum."""

from collections import Counter

import numpy as np


class Tensor:
    __array_ufunc__ = None

    def __init__(self, data, inputs=(), vjp=None):
        self.data = np.asarray(data, dtype=float)
        self.inputs, self.vjp, self.grad = inputs, vjp, None

    def backward(self, grad=None):
        if grad is None:
            if self.data.size > 1:
                raise ValueError("say which gradient comes from above: this Tensor has several elements")
            grad = np.ones(self.data.shape)
        uses, reached, seen = Counter(), [self], {id(self)}
        while reached:
            for source in reached.pop().inputs:
                uses[id(source)] += 1
                if id(source) not in seen:
                    seen.add(id(source))
                    reached.append(source)
        parts, ready = {id(self): [grad]}, [self]
        while ready:
            node = ready.pop(0)
            whole = sum(parts.pop(id(node)))
            if node.vjp is None:
                node.grad = whole + (0 if node.grad is None else node.grad)
            for source, part in zip(node.inputs, () if node.vjp is None else node.vjp(whole), strict=True):
                parts.setdefault(id(source), []).append(part)
                uses[id(source)] -= 1
                if uses[id(source)] == 0:
                    ready.append(source)

    def __add__(self, other):
        return add(self, as_tensor(other))

    def __neg__(self):
        return multiply(as_tensor(-1), self)

    def __sub__(self, other):
        return self + -as_tensor(other)

    def __rsub__(self, other):
        return -self + other

    def __mul__(self, other):
        return multiply(self, as_tensor(other))

    __radd__, __rmul__ = __add__, __mul__

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
    letters = "abcdefgh"[: grad.ndim]
    kept = letters[grad.ndim - len(shape) :]
    kept = "".join(each for each, size in zip(kept, shape, strict=True) if size != 1)
    return np.einsum(f"{letters}->{kept}", grad).reshape(shape)


def add(a, b):
    shapes = a.data.shape, b.data.shape
    return Tensor(a.data + b.data, (a, b), lambda grad: [sum_to_shape(grad, each) for each in shapes])


def multiply(a, b):
    def vjp(grad):
        return sum_to_shape(b.data * grad, a.data.shape), sum_to_shape(a.data * grad, b.data.shape)

    return Tensor(np.multiply(a.data, b.data), [a, b], vjp)


def divide(a, b):
    ratio = a.data / b.data

    def vjp(grad):
        share = grad / b.data
        return sum_to_shape(share, a.data.shape), sum_to_shape(-share * ratio, b.data.shape)

    return Tensor(ratio, (a, b), vjp)


def exp(a):
    return Tensor(np.exp(a.data), (a,), lambda grad: (np.exp(a.data) * grad,))


def total(a, axis=None, keepdims=False):
    kept = a.data.sum(axis=axis, keepdims=True)

    def vjp(grad):
        return (np.reshape(grad, kept.shape) * np.ones(a.data.shape),)

    return Tensor(kept if keepdims else kept.sum(axis=axis), (a,), vjp)


def transpose(a):
    return Tensor(np.einsum("...ij->...ji", a.data), (a,), lambda grad: (np.einsum("...ij->...ji", grad),))


def matmul(a, b):
    def vjp(grad):
        by_a = np.einsum("...ik,...jk->...ij", grad, b.data)
        by_b = np.einsum("...ij,...ik->...jk", a.data, grad)
        return sum_to_shape(by_a, a.data.shape), sum_to_shape(by_b, b.data.shape)

    return Tensor(np.einsum("...ij,...jk->...ik", a.data, b.data), (a, b), vjp)
