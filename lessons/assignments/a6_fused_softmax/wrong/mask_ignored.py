"""The mask is not used."""

# ruff: noqa: F821
HINTS = {
    "question": "What does the kernel do with keep?",
    "concept": "A key that may not be seen gets a score of minus infinity.",
    "place": "Read keep where it is not a null pointer.",
}
LOSES = (
    "fused_softmax.small_mask",
    "fused_softmax.mask",
    "fused_softmax.mask_late",
    "fused_softmax.empty_rows",
    "fused_softmax.orders",
)

KERNEL = KERNEL.replace("if (keep && !keep[start + i]) x = minus_infinity();", "")
