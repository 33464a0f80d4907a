"""A large negative number stands for minus infinity, so a row without a key comes out uniform."""

# ruff: noqa: F821
HINTS = {
    "question": "What is the softmax of a row that is -1e30 everywhere?",
    "concept": "The softmax only sees differences; a row of equal scores is uniform, however small they are.",
    "place": "Put minus_infinity() in place of masked scores.",
}
LOSES = ("fused_softmax.empty_rows",)

KERNEL = KERNEL.replace(
    "if (keep && !keep[start + i]) x = minus_infinity();", "if (keep && !keep[start + i]) x = -1e30f;"
)
