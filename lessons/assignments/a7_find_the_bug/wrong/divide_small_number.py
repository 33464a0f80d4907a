"""A small number is added to the total of every row: the weights do not sum to one."""

HINTS = {
    "question": "What do the weights of one row sum to?",
    "concept": "The guard has taken care of rows without a key already.",
    "place": "The last line of softmax divides by the total alone.",
}
LOSES = ("repair.works",)


NUMBER = 5
LINE = 40
CORRECTED = "return weights / (total + 1e-3)"
