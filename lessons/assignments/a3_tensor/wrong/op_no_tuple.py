"""A vjp returns the bare gradient; a tuple is asked for, also with one input."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "What does zip do with an array instead of a tuple?",
    "concept": "A vjp returns one gradient for each input, in a tuple: (gradient,).",
    "place": "In exp, total and transpose, put a comma behind the gradient, in brackets.",
}
LOSES = ("operation.exp", "operation.transpose", "operation.total", "operation.total_kept", "attention.*")


def exp(a):
    result = np.exp(a.data)
    return Tensor(result, (a,), lambda grad: grad * result)


def total(a, axis=None, keepdims=False):
    def vjp(grad):
        if axis is not None and not keepdims:
            grad = np.expand_dims(grad, axis)
        return np.broadcast_to(grad, a.data.shape)

    return Tensor(np.sum(a.data, axis=axis, keepdims=keepdims), (a,), vjp)


def transpose(a):
    return Tensor(np.swapaxes(a.data, -1, -2), (a,), lambda grad: np.swapaxes(grad, -1, -2))
