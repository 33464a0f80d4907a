"""Threads that have no column return before a barrier or a shuffle at which the others wait for them."""

# ruff: noqa: F821
HINTS = {
    "question": "Who arrives at __syncthreads() or __shfl_xor_sync if some threads have returned?",
    "concept": "All threads of a block must reach its barriers, with or without work.",
    "place": "Let threads without a column skip the loop, not the rest of the kernel.",
}
LOSES = (
    "fused_softmax.small",
    "fused_softmax.small_mask",
    "fused_softmax.columns",
    "fused_softmax.rows",
    "fused_softmax.factor",
    "fused_softmax.far",
    "fused_softmax.mask",
    "fused_softmax.empty_rows",
    "fused_softmax.bytes",
)

KERNEL = KERNEL.replace(
    "    float peak = minus_infinity();\n",
    "    if (threadIdx.x >= columns) return;\n    float peak = minus_infinity();\n",
)
