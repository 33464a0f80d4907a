"""One sum serves the whole table."""

HINTS = {
    "question": "What do the weights of one row sum to?",
    "concept": "Every row is a distribution of its own.",
    "place": "The line of the total sums along the last axis, with keepdims.",
}
LOSES = ("repair.works",)


NUMBER = 18
LINE = 38
CORRECTED = "total = np.sum(weights)"
