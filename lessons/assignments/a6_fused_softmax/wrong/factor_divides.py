"""The scores are divided by factor; it is 1 / sqrt(d_k) already."""

# ruff: noqa: F821
HINTS = {
    "question": "Is factor the scale or its inverse?",
    "concept": "factor multiplies: division is slow on a GPU, so it is done once, outside.",
    "place": "Write scores[...] * factor.",
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

KERNEL = KERNEL.replace("scores[start + i] * factor", "scores[start + i] / factor")
