"""The scores are not scaled at all: they have to be divided by the square root of the width of a head."""

HINTS = {
    "question": "How does the spread of a dot product grow with its width?",
    "concept": "A dot product of E products has a standard deviation of sqrt(E).",
    "place": "The line of the scale divides by the square root of the last axis of the queries.",
}
LOSES = ("repair.works",)


NUMBER = 0
LINE = 47
CORRECTED = "scores = scores * 1.0"
