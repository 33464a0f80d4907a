"""The heads are added; they must stand side by side."""

HINTS = {
    "question": "What is the width of the result?",
    "concept": "Every head has something of its own to say, so the widths add up to H*E.",
    "place": "In merge_heads, reshape instead of summing.",
}
LOSES = ("merge_heads.small", "merge_heads.values", "merge_heads.batch", "merge_heads.float32")


def merge_heads(x):
    return x.sum(axis=-3)
