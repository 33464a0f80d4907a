"""Every warp of the block walks through the row in steps of 32, so several take the same columns."""

# ruff: noqa: F821
HINTS = {
    "question": "Which threads take column 40 when a block has four warps?",
    "concept": "The step is the number of threads that share the row.",
    "place": "Step by blockDim.x, or give each warp a row of its own.",
}
LOSES = (
    "fused_softmax.columns",
    "fused_softmax.wide",
    "fused_softmax.factor",
    "fused_softmax.far",
    "fused_softmax.mask",
    "fused_softmax.mask_late",
    "fused_softmax.empty_rows",
    "fused_softmax.orders",
    "fused_softmax.bytes",
    "fused_softmax.bytes_once_written",
    "fused_softmax.bytes_once_read",
)

KERNEL = KERNEL.replace("i += blockDim.x", "i += 32")
