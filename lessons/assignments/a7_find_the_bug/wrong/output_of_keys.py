"""The keys are averaged in place of the values."""

HINTS = {
    "question": "What is looked up, and by what?",
    "concept": "Keys are for finding, values are what is found.",
    "place": "The line of the output uses the values.",
}
LOSES = ("repair.works",)


NUMBER = 34
LINE = 50
CORRECTED = "output = weights @ key"
