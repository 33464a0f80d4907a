"""exp passes grad times its input on; the derivative of exp is its output."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "What is the derivative of e^x?",
    "concept": "exp is its own derivative.",
    "place": "In exp, multiply grad by the result.",
}
LOSES = ("operation.exp", "attention.*")


def exp(a):
    return Tensor(np.exp(a.data), (a,), lambda grad: (grad * a.data,))
