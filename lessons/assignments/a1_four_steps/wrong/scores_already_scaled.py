"""The scores are scaled already; scale_scores will divide a second time."""

import numpy as np

HINTS = {
    "question": "How often is the table divided by the square root of d_k on its way to the softmax?",
    "concept": "Each step does one thing: scores are plain dot products.",
    "place": "In scores, the division by the square root of the width belongs into scale_scores.",
}
LOSES = ("scores.*",)


def scores(query, key):
    return query @ np.swapaxes(key, -1, -2) / np.sqrt(query.shape[-1])
