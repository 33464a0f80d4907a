"""There is a block for each column; there must be one for each row."""

HINTS = {
    "question": "How many blocks does your launch start, and which rows do they write?",
    "concept": "The grid must cover the rows, and not more.",
    "place": "In launch, the grid is rows, not columns.",
}
LOSES = ("fused_softmax.*",)


def launch(rows, columns):
    return columns, 128, 4 * columns
