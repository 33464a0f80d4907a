"""The mask is applied after the softmax: the weights that are left do not sum to one."""

HINTS = {
    "question": "What do the weights of one row sum to?",
    "concept": "A mask acts before the softmax.",
    "place": "The line of the weights passes the mask to softmax.",
}
LOSES = ("repair.works",)


NUMBER = 13
LINE = 49
CORRECTED = "weights = softmax(scores, True) * allowed"
