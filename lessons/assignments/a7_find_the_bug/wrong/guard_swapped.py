"""The guard keeps the total where it is 0 and throws it away elsewhere."""

HINTS = {
    "question": "Which of its last two arguments does np.where take where the first is True?",
    "concept": "np.where(condition, if true, if false).",
    "place": "In the guard, exchange the last two arguments.",
}
LOSES = ("repair.works",)


NUMBER = 38
LINE = 39
CORRECTED = "total = np.where(total == 0, total, 1)"
