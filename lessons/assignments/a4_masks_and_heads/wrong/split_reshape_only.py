"""A reshape alone cuts tokens apart: it reads memory row by row, so a head gets the columns of several tokens."""

HINTS = {
    "question": "Which numbers of the first token end up in head 1?",
    "concept": "Split the last axis in two, (..., L, H, E); then swap the axes of tokens and heads.",
    "place": "In split_heads, reshape to (..., L, H, E) first, then swap the axes -3 and -2.",
}
LOSES = ("split_heads.small", "split_heads.values", "split_heads.batch", "split_heads.float32")


def split_heads(x, num_heads):
    return x.reshape(*x.shape[:-2], num_heads, x.shape[-2], x.shape[-1] // num_heads)
