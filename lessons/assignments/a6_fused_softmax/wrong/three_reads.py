"""Every score is read three times: for the peak, for the total and for the weight."""

# ruff: noqa: F821
HINTS = {
    "question": "How many bytes does your kernel read for each score?",
    "concept": "A score that is read can be kept, in shared memory or in registers, until its weight is written.",
    "place": "Keep the row in shared memory, and read from there in the second and third loop.",
}
LOSES = ("fused_softmax.bytes_once_read",)

KERNEL = KERNEL.replace(
    "        kept[i] = expf(kept[i] - shift);\n        total += kept[i];\n",
    "        total += keep && !keep[start + i] ? 0.0f : expf(scores[start + i] * factor - shift);\n",
)
KERNEL = KERNEL.replace(
    "weights[start + i] = kept[i] * inverse",
    "weights[start + i] = keep && !keep[start + i] ? 0.0f : expf(scores[start + i] * factor - shift) * inverse",
)
