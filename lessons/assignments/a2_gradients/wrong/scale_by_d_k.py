"""The gradient is divided by d_k; the forward step divides by its square root."""

HINTS = {
    "question": "By what did the forward step divide?",
    "concept": "The derivative of x / sqrt(d_k) by x is 1 / sqrt(d_k).",
    "place": "In scale_backward, take the square root of d_k.",
}
LOSES = ("scale_backward.*",)


def scale_backward(grad, d_k):
    return grad / d_k
