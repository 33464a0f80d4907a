"""The scores are not multiplied by factor."""

# ruff: noqa: F821
HINTS = {
    "question": "Where is factor used?",
    "concept": "The kernel fuses step 2 with step 3: scale, mask and softmax in one pass.",
    "place": "Multiply every score by factor when it is read.",
}
LOSES = (
    "fused_softmax.small",
    "fused_softmax.small_mask",
    "fused_softmax.columns",
    "fused_softmax.wide",
    "fused_softmax.rows",
    "fused_softmax.factor",
    "fused_softmax.mask",
    "fused_softmax.mask_late",
    "fused_softmax.empty_rows",
    "fused_softmax.orders",
    "fused_softmax.bytes",
    "fused_softmax.bytes_once_written",
    "fused_softmax.bytes_once_read",
)

KERNEL = KERNEL.replace("scores[start + i] * factor", "scores[start + i]")
