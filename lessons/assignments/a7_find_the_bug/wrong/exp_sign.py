"""The difference is the wrong way round: small scores get large weights."""

HINTS = {
    "question": "Which key should get the largest weight?",
    "concept": "exp grows: the larger the score, the larger the weight.",
    "place": "The line of the exponentials subtracts the peak from the scores.",
}
LOSES = ("repair.works",)


NUMBER = 7
LINE = 37
CORRECTED = "weights = np.exp(peak - scores)"
