"""The gradient of the query sums over the queries, not over the keys."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Over which index is d loss / d query[i] a sum?",
    "concept": "A query meets every key, so its gradient sums over the keys, which are the columns of grad.",
    "place": "In scores_backward, the product for the query should use grad as it is.",
}
LOSES = ("scores_backward.*",)


def scores_backward(grad, query, key):
    grad_query = np.swapaxes(grad, -1, -2) @ key
    grad_key = np.swapaxes(grad, -1, -2) @ query
    return to_shape(grad_query, query.shape), to_shape(grad_key, key.shape)
