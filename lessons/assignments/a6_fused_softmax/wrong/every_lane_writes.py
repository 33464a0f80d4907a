"""All lanes of a warp write the same place; one is enough, and the others race with it."""

# ruff: noqa: F821
HINTS = {
    "question": "How many threads write peaks[warp]?",
    "concept": "Two writes to one place that no barrier orders are a race, even where they write the same.",
    "place": "Let lane 0 alone write the result of its warp.",
}
LOSES = ("fused_softmax.*",)

KERNEL = KERNEL.replace("    if (lane == 0) peaks", "    peaks")
