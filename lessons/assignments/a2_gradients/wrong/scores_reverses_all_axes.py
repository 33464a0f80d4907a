"""grad.T reverses all axes; only the last two change places."""

# ruff: noqa: F821
HINTS = {
    "question": "Which shape has x.T for an x of shape (2, 3, 4, 5)?",
    "concept": "A batch is a stack of matrices; transpose each of them, not the stack.",
    "place": "In scores_backward, use np.swapaxes(grad, -1, -2).",
}
LOSES = ("scores_backward.batch", "scores_backward.shapes", "scores_backward.shared", "scores_backward.float32")


def scores_backward(grad, query, key):
    grad_query = grad @ key
    grad_key = grad.T @ query
    return to_shape(grad_query, query.shape), to_shape(grad_key, key.shape)
