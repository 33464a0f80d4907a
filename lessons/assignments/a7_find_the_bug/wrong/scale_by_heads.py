"""The scale is taken from the number of heads."""

HINTS = {
    "question": "What is axis 1 after the split?",
    "concept": "The spread of a dot product grows with the number of its terms.",
    "place": "The line of the scale uses the last axis.",
}
LOSES = ("repair.works",)


NUMBER = 0
LINE = 47
CORRECTED = "scores = scores / np.sqrt(query.shape[1])"
