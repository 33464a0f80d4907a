"""The result does not remember what it was made from, so backward ends there."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "How does backward get from the result to its inputs?",
    "concept": "A node holds its inputs and its vjp.",
    "place": "In exp, give Tensor the inputs (a,) and the vjp.",
}
LOSES = ("operation.exp", "attention.*")


def exp(a):
    return Tensor(np.exp(a.data))
