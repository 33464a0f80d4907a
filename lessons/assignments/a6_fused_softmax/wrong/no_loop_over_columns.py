"""Each thread takes one column, so a row longer than the block is not finished."""

# ruff: noqa: F821
HINTS = {
    "question": "With blocks of 128 threads, who takes column 200?",
    "concept": "A thread takes the columns t, t + blockDim.x, t + 2 blockDim.x, ...",
    "place": "Loop over the columns in steps of blockDim.x.",
}
LOSES = (
    "fused_softmax.columns",
    "fused_softmax.wide",
    "fused_softmax.mask",
    "fused_softmax.mask_late",
    "fused_softmax.orders",
    "fused_softmax.bytes_once_written",
    "fused_softmax.bytes_once_read",
)

KERNEL = KERNEL.replace("i < columns; i +=", "i < min(columns, (int)blockDim.x); i +=")
