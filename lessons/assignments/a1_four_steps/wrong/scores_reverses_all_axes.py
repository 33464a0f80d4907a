"""key.T reverses every axis; only the last two are to be swapped."""

HINTS = {
    "question": "What is the shape of key.T when key has a batch axis?",
    "concept": "A transpose of a batch of matrices swaps the last two axes and leaves those in front.",
    "place": "In scores, key.T should be np.swapaxes(key, -1, -2).",
}
LOSES = ("scores.batch", "scores.float32")


def scores(query, key):
    return query @ key.T
