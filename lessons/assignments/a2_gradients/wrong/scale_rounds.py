"""The square root is rounded down to a whole number."""

HINTS = {
    "question": "What does // do, or int()?",
    "concept": "sqrt(d_k) is rarely a whole number.",
    "place": "In scale_backward, keep the root as it is.",
}
LOSES = ("scale_backward.*",)


def scale_backward(grad, d_k):
    return grad / int(d_k**0.5)
