"""The boolean mask is added to the scores: allowed keys gain 1, masked ones stay in."""

HINTS = {
    "question": "What is a score plus True?",
    "concept": "An additive mask holds 0 and -inf; a boolean one has to choose.",
    "place": "The line that fills the masked scores uses np.where.",
}
LOSES = ("repair.works",)


NUMBER = 29
LINE = 34
CORRECTED = "scores = scores + allowed"
