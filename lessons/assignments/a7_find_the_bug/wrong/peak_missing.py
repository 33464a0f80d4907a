"""The maximum is not subtracted: exp overflows."""

HINTS = {
    "question": "What is exp(1000)?",
    "concept": "Subtracting the row's maximum changes no weight and keeps exp finite.",
    "place": "The line of the exponentials subtracts the peak.",
}
LOSES = ("repair.works",)


NUMBER = 7
LINE = 37
CORRECTED = "weights = np.exp(scores)"
