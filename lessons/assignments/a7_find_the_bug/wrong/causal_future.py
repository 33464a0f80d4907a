"""The future is seen and the past is hidden."""

HINTS = {
    "question": "Which keys does the last query see?",
    "concept": "Rows are queries, columns are keys: the lower triangle is the past.",
    "place": "The line of the causal mask keeps the lower triangle.",
}
LOSES = ("repair.works",)


NUMBER = 1
LINE = 26
CORRECTED = "allowed = np.triu(allowed)"
