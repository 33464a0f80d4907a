"""The heads are still behind the tokens, (..., L, H, E)."""

HINTS = {
    "question": "Which two axes does the product of queries and keys use?",
    "concept": "Attention works on the last two axes, so the heads must stand in front of the tokens.",
    "place": "In split_heads, swap the axes -3 and -2 after the reshape.",
}
LOSES = ("split_heads.*",)


def split_heads(x, num_heads):
    return x.reshape(*x.shape[:-1], num_heads, x.shape[-1] // num_heads)
