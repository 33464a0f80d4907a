"""The heads are returned as they came."""

HINTS = {
    "question": "How many heads should come out?",
    "concept": "There must be a head of keys for every query head, before the product.",
    "place": "In share_heads, repeat each head H / Hkv times.",
}
LOSES = ("share_heads.small", "share_heads.groups", "share_heads.batch", "share_heads.one", "share_heads.float32")


def share_heads(x, num_heads):
    return x.copy()
