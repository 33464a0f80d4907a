"""The table is read as if its columns lay one after another; its rows do."""

# ruff: noqa: F821
HINTS = {
    "question": "At which index is row 1, column 0?",
    "concept": "NumPy's order: element (row, column) is at row * columns + column.",
    "place": "Read scores[row * columns + i].",
}
LOSES = ("fused_softmax.*",)

KERNEL = KERNEL.replace("scores[start + i]", "scores[(long long)i * rows + blockIdx.x]")
