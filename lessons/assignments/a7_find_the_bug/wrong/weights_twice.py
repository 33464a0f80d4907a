"""The softmax is applied twice: the weights become nearly equal."""

HINTS = {
    "question": "What goes into the softmax, scores or weights?",
    "concept": "Weights lie between 0 and 1, and so close together that a second softmax flattens them.",
    "place": "The line of the weights calls softmax once.",
}
LOSES = ("repair.works",)


NUMBER = 13
LINE = 49
CORRECTED = "weights = softmax(softmax(scores, allowed), allowed)"
