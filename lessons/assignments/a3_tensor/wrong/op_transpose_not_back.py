"""The gradient of a transposed array has to be transposed back."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Which shape has the input, and which one your gradient?",
    "concept": "A gradient has the shape of its input.",
    "place": "In transpose, exchange the axes of grad as well.",
}
LOSES = ("operation.transpose", "attention.*")


def transpose(a):
    return Tensor(np.swapaxes(a.data, -1, -2), (a,), lambda grad: (grad * 1,))
