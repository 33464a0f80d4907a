"""Queries and keys have changed places: row i of the table must belong to query i."""

import numpy as np

HINTS = {
    "question": "Which axis of the table belongs to the queries?",
    "concept": "Rows of the table are queries, columns are keys; a softmax along a row then weighs the keys.",
    "place": "In scores, the product should start with the query: query times key transposed.",
}
LOSES = ("scores.*",)


def scores(query, key):
    return key @ np.swapaxes(query, -1, -2)
