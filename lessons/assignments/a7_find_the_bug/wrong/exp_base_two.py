"""Powers of 2 are taken in place of powers of e."""

HINTS = {
    "question": "What is the base of the softmax?",
    "concept": "The softmax uses e; another base is another temperature.",
    "place": "The line of the exponentials uses np.exp.",
}
LOSES = ("repair.works",)


NUMBER = 35
LINE = 37
CORRECTED = "weights = np.exp2(scores - peak)"
