"""The peak is taken before the scores are multiplied by factor, which may be negative."""

# ruff: noqa: F821
HINTS = {
    "question": "Which score is the largest after all have been multiplied by -0.75?",
    "concept": "The peak must be the largest of the numbers that go into exp, or exp overflows.",
    "place": "Multiply first, then take the maximum.",
}
LOSES = ("fused_softmax.factor",)

KERNEL = KERNEL.replace(
    "float x = scores[start + i] * factor;", "float unscaled = scores[start + i], x = unscaled * factor;"
)
KERNEL = KERNEL.replace(
    "        peak = fmaxf(peak, x);", "        peak = fmaxf(peak, x == minus_infinity() ? x : unscaled);"
)
KERNEL = KERNEL.replace(
    "    float shift = peak == minus_infinity() ? 0.0f : peak;",
    "    float shift = peak == minus_infinity() ? 0.0f : peak * factor;",
)
