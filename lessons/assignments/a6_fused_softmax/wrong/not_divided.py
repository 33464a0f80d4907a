"""The exponentials are not divided by their total."""

# ruff: noqa: F821
HINTS = {
    "question": "What do the weights of a row add up to?",
    "concept": "A weight is exp(score - peak) divided by the sum of them all.",
    "place": "Divide by the total before writing.",
}
LOSES = ("fused_softmax.*",)

KERNEL = KERNEL.replace("kept[i] * inverse", "kept[i]")
