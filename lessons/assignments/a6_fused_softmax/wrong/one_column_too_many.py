"""The loop that writes runs one column too far."""

# ruff: noqa: F821
HINTS = {
    "question": "Which number has the last column?",
    "concept": "Counting starts at 0: columns are numbered 0 to columns - 1.",
    "place": "The loops end with i < columns.",
}
LOSES = ("fused_softmax.*",)

KERNEL = KERNEL.replace(
    "i < columns; i += blockDim.x) weights[start + i] = kept[i] * inverse",
    "i <= columns; i += blockDim.x) weights[start + i] = inverse * (i < columns ? kept[i] : 0.0f)",
)
