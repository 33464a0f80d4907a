"""The gradient is multiplied by sqrt(d_k): the backward step is not the inverse of the forward step."""

HINTS = {
    "question": "y = x / c: what is dy/dx?",
    "concept": "Backward does not undo the step; it multiplies by the derivative, which is 1/sqrt(d_k).",
    "place": "In scale_backward, divide where you multiply.",
}
LOSES = ("scale_backward.*",)


def scale_backward(grad, d_k):
    return grad * d_k**0.5
