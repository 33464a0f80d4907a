"""The scores are cosines: the lengths of queries and keys were divided out."""

import numpy as np

HINTS = {
    "question": "Does a query twice as long score twice as high?",
    "concept": "Scaled dot-product attention keeps the lengths; only the square root of d_k is divided out.",
    "place": "In scores, leave out the division by the norms.",
}
LOSES = ("scores.*",)


def scores(query, key):
    unit = [x / np.linalg.norm(x, axis=-1, keepdims=True) for x in (query, key)]
    return unit[0] @ np.swapaxes(unit[1], -1, -2)
