"""The scale is taken from the number of keys, not from the width of a head."""

HINTS = {
    "question": "Which axis of the keys is their width?",
    "concept": "The spread of a dot product grows with the number of its terms.",
    "place": "The line of the scale uses the last axis.",
}
LOSES = ("repair.works",)


NUMBER = 0
LINE = 47
CORRECTED = "scores = scores / math.sqrt(key.shape[-2])"
