"""The lines up to yours are right: the fault is made further on."""

HINTS = {
    "question": "Is what your line makes wrong on its own, with every size different?",
    "concept": "Print what every line makes of a small input: the first wrong result is made by the line of the fault.",
    "place": "Check the lines after yours, one after the other.",
}
LOSES = ("place.line", "repair.works")


NUMBER = 14
LINE = 11
CORRECTED = "parts = x.reshape(batch, length, heads, -1)"
