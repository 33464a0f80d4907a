""".T reverses all axes; only the last two change places."""

# ruff: noqa: F821
HINTS = {
    "question": "Which shape has x.T for an x of shape (2, 3, 4, 5)?",
    "concept": "A batch is a stack of matrices; transpose each of them, not the stack.",
    "place": "In weighted_sum_backward, use np.swapaxes(..., -1, -2).",
}
LOSES = (
    "weighted_sum_backward.batch",
    "weighted_sum_backward.shapes",
    "weighted_sum_backward.shared",
    "weighted_sum_backward.float32",
)


def weighted_sum_backward(grad, weights, value):
    grad_weights = grad @ value.T
    grad_value = weights.T @ grad
    return to_shape(grad_weights, weights.shape), to_shape(grad_value, value.shape)
