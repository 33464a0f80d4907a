"""The keys that may be seen are hidden, and the hidden ones are seen."""

HINTS = {
    "question": "Which of its last two arguments does np.where take where the first is True?",
    "concept": "np.where(condition, if true, if false).",
    "place": "In the line that fills the masked scores, exchange the last two arguments.",
}
LOSES = ("repair.works",)


NUMBER = 12
LINE = 34
CORRECTED = "scores = np.where(allowed, -np.inf, scores)"
