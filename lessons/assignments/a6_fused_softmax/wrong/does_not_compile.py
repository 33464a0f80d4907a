"""The kernel does not compile."""

# ruff: noqa: F821
HINTS = {
    "question": "Which line does the compiler complain about?",
    "concept": "The message names the first line that cannot be right; the mistake is there or just before.",
    "place": "Read the first message: it holds the line and what was expected there.",
}
LOSES = ("fused_softmax.*",)

KERNEL = KERNEL.replace("kept[i] = x;", "kept[i] = x")
