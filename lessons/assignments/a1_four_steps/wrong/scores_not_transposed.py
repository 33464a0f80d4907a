"""The key is not transposed, so the product contracts the wrong axes."""

HINTS = {
    "question": "Which axis do a query and a key have in common?",
    "concept": "A dot product contracts the width E, the last axis of both.",
    "place": "In scores, np.swapaxes(key, -1, -2) is missing.",
}
LOSES = ("scores.*",)


def scores(query, key):
    return query @ key
