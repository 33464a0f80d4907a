"""A reshape alone does not put a token's heads side by side: it reads memory head by head."""

HINTS = {
    "question": "Where in memory do the heads of the first token lie?",
    "concept": "Swap the axes of heads and tokens first, so that a token's heads are neighbours; then reshape.",
    "place": "In merge_heads, swap the axes -3 and -2 before the reshape.",
}
LOSES = ("merge_heads.small", "merge_heads.values", "merge_heads.batch", "merge_heads.float32")


def merge_heads(x):
    return x.reshape(*x.shape[:-3], x.shape[-2], -1)
