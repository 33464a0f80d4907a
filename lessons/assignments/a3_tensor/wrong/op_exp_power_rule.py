"""exp is differentiated as a power: x e^(x-1) is the rule for x in the base."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Where is the variable, in the base or in the exponent?",
    "concept": "exp is its own derivative.",
    "place": "In exp, multiply grad by the result.",
}
LOSES = ("operation.exp", "attention.*")


def exp(a):
    return Tensor(np.exp(a.data), (a,), lambda grad: (grad * a.data * np.exp(a.data - 1),))
