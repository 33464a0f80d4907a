"""The scores are not scaled, so their spread grows with d_k and the softmax saturates."""

HINTS = {
    "question": "How does the spread of a dot product grow with d_k?",
    "concept": "A sum of d_k products has standard deviation sqrt(d_k); scaling takes it back to 1.",
    "place": "In scale_scores, divide by the square root of d_k.",
}
LOSES = ("scale_scores.*",)


def scale_scores(scores, d_k):
    return scores.copy()
