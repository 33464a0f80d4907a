"""exp returns its derivative without the gradient from above."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "What happens to your result if grad is doubled?",
    "concept": "A vjp multiplies grad by the derivative.",
    "place": "In exp, multiply the result by grad.",
}
LOSES = ("operation.exp", "attention.*")


def exp(a):
    result = np.exp(a.data)
    return Tensor(result, (a,), lambda grad: (result * np.ones(np.shape(grad)),))
