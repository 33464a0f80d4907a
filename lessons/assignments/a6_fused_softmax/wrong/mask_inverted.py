"""The mask is read the wrong way round."""

# ruff: noqa: F821
HINTS = {
    "question": "What does true mean in keep?",
    "concept": "true = may be seen, as in all assignments.",
    "place": "Hide the score where keep is false.",
}
LOSES = (
    "fused_softmax.small_mask",
    "fused_softmax.mask",
    "fused_softmax.mask_late",
    "fused_softmax.empty_rows",
    "fused_softmax.orders",
)

KERNEL = KERNEL.replace("if (keep && !keep[start + i])", "if (keep && keep[start + i])")
