"""All blocks write the same row: the number of the block is not used."""

# ruff: noqa: F821
HINTS = {
    "question": "Which row does block 3 work on?",
    "concept": "Blocks run in any order and at the same time; each must have rows of its own.",
    "place": "The row's start depends on blockIdx.x.",
}
LOSES = ("fused_softmax.*",)

KERNEL = KERNEL.replace("(long long)blockIdx.x * columns", "0")
