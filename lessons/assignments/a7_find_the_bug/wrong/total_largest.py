"""The largest entry is taken for the total: it is always 1 here, so nothing is normalised."""

HINTS = {
    "question": "What do the weights of one row sum to?",
    "concept": "The weights of a row sum to one when they are divided by their sum.",
    "place": "The line of the total sums.",
}
LOSES = ("repair.works",)


NUMBER = 18
LINE = 38
CORRECTED = "total = weights.max(axis=-1, keepdims=True)"
