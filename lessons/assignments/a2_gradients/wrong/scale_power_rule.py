"""The factor is differentiated as if d_k were the variable."""

HINTS = {
    "question": "Which of the two, scores or d_k, is the variable?",
    "concept": "d_k is a constant: the derivative of x / c by x is 1 / c.",
    "place": "In scale_backward, the factor is 1 / sqrt(d_k).",
}
LOSES = ("scale_backward.*",)


def scale_backward(grad, d_k):
    return -0.5 * grad * d_k**-1.5
