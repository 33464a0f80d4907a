"""Exactly one axis in front is expected; there may be none, or two."""

HINTS = {
    "question": "What does x.shape hold for a single sequence, and for a batch of batches?",
    "concept": "The dots in (..., H, L, E) stand for any number of axes.",
    "place": "In merge_heads, use x.shape[:-3] and count axes from the end.",
}
LOSES = ("merge_heads.small", "merge_heads.values", "merge_heads.batch")


def merge_heads(x):
    B, H, L, E = x.shape
    return x.transpose(0, 2, 1, 3).reshape(B, L, H * E)
