"""factor multiplies the weights, after the softmax."""

# ruff: noqa: F821
HINTS = {
    "question": "What do the weights of a row add up to?",
    "concept": "The scale acts on the scores, before exp.",
    "place": "Multiply every score by factor when it is read, and leave the weights alone.",
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
KERNEL = KERNEL.replace("kept[i] * inverse", "kept[i] * inverse * factor")
