"""Exactly one axis in front is expected; there may be none, or two."""

HINTS = {
    "question": "What does x.shape hold for a single sequence, and for a batch of batches?",
    "concept": "The dots in (..., L, H*E) stand for any number of axes.",
    "place": "In split_heads, use x.shape[:-1] and count axes from the end.",
}
LOSES = ("split_heads.small", "split_heads.values", "split_heads.batch")


def split_heads(x, num_heads):
    B, L, width = x.shape
    return x.reshape(B, L, num_heads, width // num_heads).transpose(0, 2, 1, 3)
