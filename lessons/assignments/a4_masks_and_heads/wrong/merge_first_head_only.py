"""Only the first head is kept."""

HINTS = {
    "question": "What is the width of the result?",
    "concept": "Every head has something of its own to say, so the widths add up to H*E.",
    "place": "In merge_heads, reshape so that all heads are kept.",
}
LOSES = ("merge_heads.small", "merge_heads.values", "merge_heads.batch", "merge_heads.float32")


def merge_heads(x):
    return x[..., 0, :, :]
