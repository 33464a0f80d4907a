"""exp passes the gradient through as if its derivative were 1."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "How steep is e^x at x = 2?",
    "concept": "exp is its own derivative.",
    "place": "In exp, multiply grad by the result.",
}
LOSES = ("operation.exp", "attention.*")


def exp(a):
    return Tensor(np.exp(a.data), (a,), lambda grad: (grad * 1,))
