"""The line at which a fault shows is not the line at which it is made: go back."""

HINTS = {
    "question": "Is what your line starts from right already?",
    "concept": "Print what every line makes of a small input: the first wrong result is made by the line of the fault.",
    "place": "Check the lines before yours, one after the other.",
}
LOSES = ("place.line", "repair.works")


NUMBER = 31
LINE = 12
CORRECTED = "return np.swapaxes(parts, 1, 2)"
