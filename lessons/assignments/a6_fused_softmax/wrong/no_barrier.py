"""Warps read what others leave in shared memory, without waiting for them."""

# ruff: noqa: F821
HINTS = {
    "question": "What does the first warp find in the others' places if it gets there first?",
    "concept": "__syncthreads() lets no thread go on before all of its block have arrived.",
    "place": "There must be a __syncthreads() between writing the warps' peaks and reading them.",
}
LOSES = ("fused_softmax.*",)

KERNEL = KERNEL.replace("    __syncthreads();\n    peak = fmaxf", "    peak = fmaxf")
