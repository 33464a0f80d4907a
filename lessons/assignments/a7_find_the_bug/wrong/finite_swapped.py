"""The branches are exchanged: the peak is thrown away where it is needed."""

HINTS = {
    "question": "Which of its last two arguments does np.where take where the first is True?",
    "concept": "np.where(condition, if true, if false).",
    "place": "In the line after the peak, exchange the last two arguments.",
}
LOSES = ("repair.works",)


NUMBER = 49
LINE = 36
CORRECTED = "peak = np.where(np.isneginf(peak), peak, 0)"
