"""The square root of d_k is rounded down to a whole number."""

HINTS = {
    "question": "What is the square root of 5, and what is int() of it?",
    "concept": "The scale is a real number.",
    "place": "In scale_scores, use math.sqrt(d_k), with no int or //.",
}
LOSES = ("scale_scores.*",)


def scale_scores(scores, d_k):
    return scores / int(d_k**0.5)
