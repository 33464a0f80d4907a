"""The scale is taken from the values, which are not in the scores."""

HINTS = {
    "question": "Of what are the scores dot products?",
    "concept": "The spread of a dot product grows with the number of its terms.",
    "place": "The line of the scale uses the width of the queries.",
}
LOSES = ("repair.works",)


NUMBER = 0
LINE = 47
CORRECTED = "scores = scores / math.sqrt(value.shape[-1])"
