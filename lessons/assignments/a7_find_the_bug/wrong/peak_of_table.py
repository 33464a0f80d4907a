"""One maximum serves the whole table: rows far below it vanish."""

HINTS = {
    "question": "What is exp(x - 1000) for a row near 0?",
    "concept": "Each row needs its own maximum.",
    "place": "The line of the peak takes the maximum along the last axis.",
}
LOSES = ("repair.works",)


NUMBER = 21
LINE = 35
CORRECTED = "peak = np.max(scores)"
