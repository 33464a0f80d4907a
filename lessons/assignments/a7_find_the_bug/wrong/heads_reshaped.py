"""The heads are taken apart by a reshape, which mixes tokens: axes have to be exchanged."""

HINTS = {
    "question": "Which numbers of a token go to head 0?",
    "concept": "A reshape keeps the order of the numbers in memory; the heads need an exchange of axes.",
    "place": "The last line of split_heads exchanges axes 1 and 2.",
}
LOSES = ("repair.works",)


NUMBER = 37
LINE = 12
CORRECTED = "return parts.reshape(batch, heads, length, -1)"
