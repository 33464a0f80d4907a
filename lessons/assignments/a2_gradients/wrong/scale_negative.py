"""The gradient has the wrong sign."""

HINTS = {
    "question": "Does y = x / 2 fall when x grows?",
    "concept": "The derivative of x / c by x is 1 / c, which is positive.",
    "place": "In scale_backward, remove the minus.",
}
LOSES = ("scale_backward.*",)


def scale_backward(grad, d_k):
    return -grad / d_k**0.5
