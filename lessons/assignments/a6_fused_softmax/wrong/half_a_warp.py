"""The shuffles start at a distance of 8, so the two halves of a warp never meet."""

# ruff: noqa: F821
HINTS = {
    "question": "After the distances 8, 4, 2, 1, how many lanes has lane 0 heard of?",
    "concept": "Five exchanges, at 16, 8, 4, 2 and 1, reach all 32 lanes.",
    "place": "Start the loops at 16.",
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

KERNEL = KERNEL.replace("int d = 16", "int d = 8")
