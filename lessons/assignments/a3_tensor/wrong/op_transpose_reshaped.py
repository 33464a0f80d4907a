"""The gradient is reshaped; the numbers have to move with their axes."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Where does the entry in row 0, column 1 of grad belong?",
    "concept": "A reshape keeps the order of the numbers in memory; a transposition changes it.",
    "place": "In transpose, use np.swapaxes(grad, -1, -2).",
}
LOSES = ("operation.transpose", "attention.*")


def transpose(a):
    return Tensor(np.swapaxes(a.data, -1, -2), (a,), lambda grad: (np.reshape(grad, a.data.shape),))
