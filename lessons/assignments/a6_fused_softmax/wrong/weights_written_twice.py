"""The exponentials are written into the weights, and read from there to be divided."""

# ruff: noqa: F821
HINTS = {
    "question": "How many bytes does your kernel write for each weight?",
    "concept": "A number that is kept costs nothing; one that is written and read again costs 8 bytes.",
    "place": "Keep the exponentials in shared memory or in registers, and write each weight once.",
}
LOSES = ("fused_softmax.bytes_once_written", "fused_softmax.bytes_once_read")

KERNEL = KERNEL.replace(
    "        kept[i] = expf(kept[i] - shift);\n        total += kept[i];\n",
    "        weights[start + i] = expf(kept[i] - shift);\n        total += weights[start + i];\n",
)
KERNEL = KERNEL.replace("weights[start + i] = kept[i] * inverse", "weights[start + i] *= inverse")
