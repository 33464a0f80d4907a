"""The weights are rounded to 0 and 1: the average becomes a sum of a few values."""

HINTS = {
    "question": "What is a weighted average?",
    "concept": "Every value counts as much as its weight.",
    "place": "The line of the output uses the weights themselves.",
}
LOSES = ("repair.works",)


NUMBER = 34
LINE = 50
CORRECTED = "output = (weights > 1 / key.shape[-2]) @ value"
