"""The gradient is divided by the fourth root of d_k."""

HINTS = {
    "question": "By what did the forward step divide?",
    "concept": "The fourth root would be the share of query or key alone; the scores were divided by sqrt(d_k).",
    "place": "In scale_backward, take the square root once.",
}
LOSES = ("scale_backward.*",)


def scale_backward(grad, d_k):
    return grad / d_k**0.25
