"""A row in which no key may be seen becomes NaN: -inf - (-inf), then 0 / 0."""

# ruff: noqa: F821
HINTS = {
    "question": "What is the peak of a row of minus infinities, and what is left after subtracting it?",
    "concept": "A row without a key has weights of zero by agreement.",
    "place": "Subtract 0 where the peak is minus infinity, and do not divide by a total of 0.",
}
LOSES = ("fused_softmax.empty_rows",)

KERNEL = KERNEL.replace("peak == minus_infinity() ? 0.0f : peak", "peak")
KERNEL = KERNEL.replace("total == 0.0f ? 0.0f : 1.0f / total", "1.0f / total")
