"""keep is read although it may be a null pointer."""

# ruff: noqa: F821
HINTS = {
    "question": "What is passed for keep when there is no mask?",
    "concept": "No mask is a null pointer; whoever reads from it reads at address 0.",
    "place": "Test the pointer first: if (keep && !keep[i]).",
}
LOSES = (
    "fused_softmax.small",
    "fused_softmax.columns",
    "fused_softmax.wide",
    "fused_softmax.rows",
    "fused_softmax.factor",
    "fused_softmax.far",
    "fused_softmax.bytes",
    "fused_softmax.bytes_once_written",
    "fused_softmax.bytes_once_read",
)

KERNEL = KERNEL.replace("if (keep && !keep[start + i])", "if (!keep[start + i])")
