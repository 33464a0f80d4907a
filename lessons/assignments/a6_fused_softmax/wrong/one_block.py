"""Only one block is launched, so only the first row is written."""

HINTS = {
    "question": "How many blocks does your launch start, and which rows do they write?",
    "concept": "The grid must cover all rows.",
    "place": "In launch, return a grid that grows with rows.",
}
LOSES = ("fused_softmax.*",)


def launch(rows, columns):
    return 1, 128, 4 * columns
