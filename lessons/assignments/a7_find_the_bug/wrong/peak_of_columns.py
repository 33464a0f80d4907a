"""The maximum is taken along the queries: keys are then shifted by different amounts, which changes the weights."""

HINTS = {
    "question": "May the keys of one row be shifted by different amounts?",
    "concept": "Only a constant for the whole row cancels.",
    "place": "The line of the peak takes the maximum along the last axis.",
}
LOSES = ("repair.works",)


NUMBER = 8
LINE = 35
CORRECTED = "peak = np.max(scores, axis=-2, keepdims=True)"
