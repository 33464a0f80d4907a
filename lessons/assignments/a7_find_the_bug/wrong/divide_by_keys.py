"""The weights are divided by the number of keys, not by their sum."""

HINTS = {
    "question": "What do the weights of one row sum to?",
    "concept": "The weights of a row sum to one when they are divided by their sum.",
    "place": "The last line of softmax divides by the total.",
}
LOSES = ("repair.works",)


NUMBER = 25
LINE = 40
CORRECTED = "return weights / weights.shape[-1]"
