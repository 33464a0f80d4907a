"""The scores are multiplied where they should be divided."""

HINTS = {
    "question": "Are the scores too large or too small without the scale?",
    "concept": "The spread grows with the width; the scale undoes that.",
    "place": "The line of the scale divides.",
}
LOSES = ("repair.works",)


NUMBER = 4
LINE = 47
CORRECTED = "scores = scores * math.sqrt(query.shape[-1])"
