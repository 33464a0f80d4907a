"""A row without any key becomes NaN: -inf - (-inf), or 0 / 0."""

HINTS = {
    "question": "What is the maximum of a row that is all -inf?",
    "concept": "A row without a key has to stay all zeros.",
    "place": "The line after the peak puts 0 for -inf, and the guard puts 1 for a total of 0.",
}
LOSES = ("repair.works",)


NUMBER = 16
LINE = 36
CORRECTED = "peak = peak * 1"
