"""Shared memory is used for the totals while some warps still read the peaks there."""

# ruff: noqa: F821
HINTS = {
    "question": "What does a slow warp read if a fast one has overwritten the peaks?",
    "concept": "A barrier is needed between the last read of a place and the next write to it, too; or a second array.",
    "place": "Put the totals into an array of their own, or a __syncthreads() before they are written.",
}
LOSES = ("fused_softmax.*",)

KERNEL = KERNEL.replace("totals", "peaks")
KERNEL = KERNEL.replace("peaks[4], peaks[4]", "peaks[4]")
