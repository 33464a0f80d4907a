"""The peak starts at 0, so it is never below, and rows of very negative scores vanish."""

# ruff: noqa: F821
HINTS = {
    "question": "What is the largest of no scores?",
    "concept": "Start with minus infinity: every score is larger.",
    "place": "Let peak start at minus_infinity().",
}
LOSES = ("fused_softmax.far", "fused_softmax.mask")

KERNEL = KERNEL.replace("float peak = minus_infinity();", "float peak = 0.0f;")
