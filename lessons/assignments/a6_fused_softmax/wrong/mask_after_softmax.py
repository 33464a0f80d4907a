"""Masked weights are set to 0 at the end, but have taken their share of the total."""

# ruff: noqa: F821
HINTS = {
    "question": "What do the weights of a masked row add up to?",
    "concept": "The mask must act before the sum: a masked key takes no share.",
    "place": "Mask the scores when they are read.",
}
LOSES = (
    "fused_softmax.small_mask",
    "fused_softmax.mask",
    "fused_softmax.mask_late",
    "fused_softmax.empty_rows",
    "fused_softmax.orders",
)

KERNEL = KERNEL.replace("if (keep && !keep[start + i]) x = minus_infinity();", "")
KERNEL = KERNEL.replace("kept[i] * inverse", "keep && !keep[start + i] ? 0.0f : kept[i] * inverse")
