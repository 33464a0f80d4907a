"""The block has more threads than a GPU allows."""

HINTS = {
    "question": "How many threads may a block have?",
    "concept": "A block has at most 1,024 threads; longer rows are walked through in steps.",
    "place": "In launch, return a block of at most 1024.",
}
LOSES = ("fused_softmax.*",)


def launch(rows, columns):
    return rows, 2048, 4 * columns
