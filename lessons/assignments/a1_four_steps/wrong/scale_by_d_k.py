"""The scores are divided by d_k, their variance; it is the standard deviation, its square root, that must go."""

HINTS = {
    "question": "If a sum of d_k terms has variance d_k, what is its standard deviation?",
    "concept": "Dividing by the standard deviation makes the variance 1; dividing by the variance makes it 1/d_k.",
    "place": "In scale_scores, divide by the square root of d_k.",
}
LOSES = ("scale_scores.*",)


def scale_scores(scores, d_k):
    return scores / d_k
