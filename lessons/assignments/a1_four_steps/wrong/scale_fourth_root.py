"""The scores are divided by the fourth root of d_k: only half of the scaling is there."""

HINTS = {
    "question": "If the query is divided by d_k ** 0.25, what must happen to the key?",
    "concept": "The scale may be shared between query and key, but the scores need all of it: sqrt(d_k).",
    "place": "In scale_scores, divide by the square root of d_k.",
}
LOSES = ("scale_scores.*",)


def scale_scores(scores, d_k):
    return scores / d_k**0.25
