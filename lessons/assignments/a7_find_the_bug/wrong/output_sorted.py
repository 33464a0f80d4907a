"""The values change places: weight j belongs to value j."""

HINTS = {
    "question": "To which value does weight j belong?",
    "concept": "Keys and values come in pairs.",
    "place": "The line of the output uses the values in their order.",
}
LOSES = ("repair.works",)


NUMBER = 39
LINE = 50
CORRECTED = "output = weights @ np.sort(value, axis=-2)"
