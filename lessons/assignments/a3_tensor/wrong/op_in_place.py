"""exp writes its result over its input."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "What does the input hold afterwards?",
    "concept": "Other nodes, and their vjps, still need the input.",
    "place": "In exp, make a new array.",
}
LOSES = ("operation.exp",)


def exp(a):
    np.exp(a.data, out=a.data)
    return Tensor(a.data, (a,), lambda grad: (grad * a.data,))
