"""The gradient from above is scaled in place, so the caller's array changes."""

HINTS = {
    "question": "What does the caller's grad hold after grad /= 2?",
    "concept": "An operator like /= writes into its argument.",
    "place": "In scale_backward, make a new array: grad / ...",
}
LOSES = ("scale_backward.*",)


def scale_backward(grad, d_k):
    grad /= d_k**0.5
    return grad
