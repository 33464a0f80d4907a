"""Batches are flattened by np.dot, which pairs every batch with every other."""

import numpy as np

HINTS = {
    "question": "What is the shape of np.dot of two arrays with three axes?",
    "concept": "matmul (@) treats axes in front as a batch; np.dot does not.",
    "place": "In weighted_sum, use @ in place of np.dot.",
}
LOSES = ("weighted_sum.batch", "weighted_sum.square", "weighted_sum.float32")


def weighted_sum(weights, value):
    return np.dot(weights, value)
