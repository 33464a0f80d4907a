"""The scores lose their sign."""

HINTS = {
    "question": "How well does a key match that points the other way?",
    "concept": "A dot product may be negative, and then means little attention.",
    "place": "The line of the scores is the dot product alone.",
}
LOSES = ("repair.works",)


NUMBER = 14
LINE = 46
CORRECTED = "scores = np.abs(query @ np.swapaxes(key, -1, -2))"
