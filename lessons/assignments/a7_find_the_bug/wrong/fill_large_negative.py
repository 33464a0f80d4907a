"""A large negative number is not -inf: a row without any key gets equal weights, not zeros."""

HINTS = {
    "question": "What are the weights if every score of a row is -1e9?",
    "concept": "The softmax sees differences only; if all scores are the same, so are the weights.",
    "place": "The line that fills the masked scores uses -np.inf.",
}
LOSES = ("repair.works",)


NUMBER = 12
LINE = 34
CORRECTED = "scores = np.where(allowed, scores, -1e9)"
