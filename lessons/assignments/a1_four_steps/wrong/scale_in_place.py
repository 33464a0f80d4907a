"""scale_scores writes into the table that it was given, so the caller's scores change."""

HINTS = {
    "question": "What does the caller's array hold after scores /= 2?",
    "concept": "An operator like /= writes into its argument; scores / x makes a new array.",
    "place": "In scale_scores, replace /= by a new array.",
}
LOSES = ("scale_scores.*",)


def scale_scores(scores, d_k):
    scores /= d_k**0.5
    return scores
