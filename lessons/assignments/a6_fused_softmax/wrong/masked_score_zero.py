"""Masked scores are set to 0, and exp(0 - peak) is not 0."""

# ruff: noqa: F821
HINTS = {
    "question": "Which score gives a weight of 0?",
    "concept": "Only minus infinity has a weight of exactly 0.",
    "place": "Put minus_infinity() in place of masked scores.",
}
LOSES = (
    "fused_softmax.small_mask",
    "fused_softmax.mask",
    "fused_softmax.mask_late",
    "fused_softmax.empty_rows",
    "fused_softmax.orders",
)

KERNEL = KERNEL.replace(
    "if (keep && !keep[start + i]) x = minus_infinity();", "if (keep && !keep[start + i]) x = 0.0f;"
)
