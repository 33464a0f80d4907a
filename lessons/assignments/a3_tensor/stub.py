"""Assignment a3: a tensor that differentiates. handout.md says what each part must do.

Complete `backward` and the eight functions; keep all names and arguments, and the constructor.
"""

import numpy as np


class Tensor:
    """An array that remembers how it was made.

    data      the array, float64
    inputs    the Tensors that it was made from; empty for a leaf, which was made by no function
    vjp       takes the gradient of this Tensor, returns a tuple with a gradient for each of the inputs; None for a leaf
    grad      what backward has gathered for a leaf; None before
    """

    def __init__(self, data, inputs=(), vjp=None):
        self.data = np.asarray(data, dtype=float)
        self.inputs, self.vjp, self.grad = inputs, vjp, None

    def backward(self, grad=None):
        """Adds d loss / d leaf to the grad of every leaf that this Tensor was made from; grad is d loss / d self."""
        raise NotImplementedError

    # The operators are complete. A number or an array beside a Tensor becomes a leaf.

    __array_ufunc__ = None  # lets array * Tensor come here

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


def sum_to_shape(grad, shape):
    """An array's gradient, summed over the axes along which an input of this shape was repeated by broadcasting."""
    raise NotImplementedError


def add(a, b):
    """a + b, as a Tensor with inputs (a, b) and a vjp."""
    raise NotImplementedError


def multiply(a, b):
    """a * b, entry by entry."""
    raise NotImplementedError


def divide(a, b):
    """a / b, entry by entry."""
    raise NotImplementedError


def exp(a):
    """e to the power of each entry."""
    raise NotImplementedError


def total(a, axis=None, keepdims=False):
    """The sum along one axis, or of everything."""
    raise NotImplementedError


def transpose(a):
    """The last two axes exchanged."""
    raise NotImplementedError


def matmul(a, b):
    """The matrix product; both have two axes or more, and those in front broadcast."""
    raise NotImplementedError
