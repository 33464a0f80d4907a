"""The peak starts at a large negative number, which some rows lie below."""

# ruff: noqa: F821
HINTS = {
    "question": "What is the largest of no scores?",
    "concept": "Start with minus infinity: every score is larger, also one of -20000.",
    "place": "Let peak start at minus_infinity().",
}
LOSES = ("fused_softmax.far",)

KERNEL = KERNEL.replace("float peak = minus_infinity();", "float peak = -10000.0f;")
