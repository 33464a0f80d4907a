"""The gradient passes through unscaled; a division in the forward step is a division in the backward step."""

HINTS = {
    "question": "y = x / c: what is dy/dx?",
    "concept": "The derivative of a linear step is its factor.",
    "place": "In scale_backward, divide by the square root of d_k.",
}
LOSES = ("scale_backward.*",)


def scale_backward(grad, d_k):
    return grad * 1
