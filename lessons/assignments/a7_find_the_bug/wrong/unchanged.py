"""The line is given back as it was: it is the right one, and it is still wrong."""

HINTS = {
    "question": "In which of its parts does the line differ from what it should be?",
    "concept": "Say in words what the line should compute, then read it letter by letter: axis, sign, order, size.",
    "place": "Read each argument of the line again.",
}
LOSES = ("repair.works",)


NUMBER = 0
LINE = 47
CORRECTED = "scores = scores * math.sqrt(query.shape[-1])"
