"""The exponentials are divided by the number of columns."""

# ruff: noqa: F821
HINTS = {
    "question": "What do the weights of a row add up to?",
    "concept": "A weight is exp(score - peak) divided by the sum of them all.",
    "place": "Divide by the total, not by columns.",
}
LOSES = ("fused_softmax.*",)

KERNEL = KERNEL.replace("1.0f / total", "1.0f / columns")
