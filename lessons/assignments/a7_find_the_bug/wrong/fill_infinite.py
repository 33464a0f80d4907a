"""A masked score is set to plus infinity."""

HINTS = {
    "question": "Which weight comes from a score of +inf?",
    "concept": "exp(-inf) is 0.",
    "place": "The line that fills the masked scores needs a minus.",
}
LOSES = ("repair.works",)


NUMBER = 12
LINE = 34
CORRECTED = "scores = np.where(allowed, scores, np.inf)"
