"""No peak is subtracted before exp, which overflows at 88 in float32."""

# ruff: noqa: F821
HINTS = {
    "question": "What is expf(100)?",
    "concept": "Subtracting a row's peak changes nothing in the weights, and keeps exp in range.",
    "place": "Subtract the peak: expf(x - peak).",
}
LOSES = ("fused_softmax.factor", "fused_softmax.far", "fused_softmax.mask")

KERNEL = KERNEL.replace("expf(kept[i] - shift)", "expf(kept[i])")
