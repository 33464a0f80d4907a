"""The maximum is never below 0: rows of very negative scores vanish."""

HINTS = {
    "question": "What is exp(-1000)?",
    "concept": "The largest exponent should be 0 in every row.",
    "place": "The line of the peak takes the maximum as it is.",
}
LOSES = ("repair.works",)


NUMBER = 8
LINE = 35
CORRECTED = "peak = np.maximum(0, scores.max(axis=-1, keepdims=True))"
