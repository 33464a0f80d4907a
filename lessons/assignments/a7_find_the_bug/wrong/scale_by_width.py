"""The scores are divided by the width, not by its square root."""

HINTS = {
    "question": "Is the variance meant, or the standard deviation?",
    "concept": "A dot product of E products has variance E, and standard deviation sqrt(E).",
    "place": "The line of the scale needs a square root.",
}
LOSES = ("repair.works",)


NUMBER = 0
LINE = 47
CORRECTED = "scores = scores / query.shape[-1]"
