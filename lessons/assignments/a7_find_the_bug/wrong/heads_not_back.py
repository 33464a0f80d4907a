"""The heads are merged without exchanging the axes back: tokens are mixed."""

HINTS = {
    "question": "In which order do axes 1 and 2 come before the merge?",
    "concept": "The merge undoes the split, step by step.",
    "place": "merge_heads exchanges axes 1 and 2 before the reshape.",
}
LOSES = ("repair.works",)


NUMBER = 3
LINE = 18
CORRECTED = "together = x"
