"""Of the warps' totals the largest is taken; they must be added."""

# ruff: noqa: F821
HINTS = {
    "question": "What does a row's total consist of?",
    "concept": "Peaks are combined by maximum, totals by sum.",
    "place": "Add the totals of the warps.",
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

KERNEL = KERNEL.replace(
    "totals[0] + totals[1] + totals[2] + totals[3]", "fmaxf(fmaxf(totals[0], totals[1]), fmaxf(totals[2], totals[3]))"
)
