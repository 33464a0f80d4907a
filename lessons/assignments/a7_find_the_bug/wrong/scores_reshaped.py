"""The keys are reshaped where they should be transposed: the shape is right and the numbers are in the wrong places."""

HINTS = {
    "question": "Where does key[0, 1] go in a reshape, and where in a transposition?",
    "concept": "A reshape keeps the order of the numbers in memory.",
    "place": "The line of the scores exchanges the last two axes.",
}
LOSES = ("repair.works",)


NUMBER = 14
LINE = 46
CORRECTED = "scores = query @ key.reshape(key.shape[:-2] + (key.shape[-1], key.shape[-2]))"
