"""The kernel writes into the scores."""

# ruff: noqa: F821
HINTS = {
    "question": "What do the scores hold after the launch?",
    "concept": "Others may still need the scores; const says that they are only read.",
    "place": "Keep intermediate results in shared memory or in registers, and scores const.",
}
LOSES = ("fused_softmax.*",)

KERNEL = KERNEL.replace("const float* scores", "float* scores")
KERNEL = KERNEL.replace("total += kept[i];", "total += scores[start + i] = kept[i];")
