"""The gradient of the key sums over the wrong axis: grad has to be transposed before it meets the query."""

# ruff: noqa: F821
HINTS = {
    "question": "Over which index is d loss / d key[j] a sum?",
    "concept": "A key is used by every query, so its gradient sums over the queries, which are the rows of grad.",
    "place": "In scores_backward, the product for the key should start with grad transposed.",
}
LOSES = ("scores_backward.*",)


def scores_backward(grad, query, key):
    grad_query = grad @ key
    grad_key = grad @ query
    return to_shape(grad_query, query.shape), to_shape(grad_key, key.shape)
