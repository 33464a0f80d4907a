"""A masked score is set to 0, and exp(0) is 1."""

HINTS = {
    "question": "Which weight comes from a score of 0?",
    "concept": "Only exp(-inf) is 0.",
    "place": "The line that fills the masked scores uses -np.inf.",
}
LOSES = ("repair.works",)


NUMBER = 12
LINE = 34
CORRECTED = "scores = np.where(allowed, scores, 0)"
