"""Only the diagonal of the Jacobian is used, as for a sigmoid: each weight depends on all scores of its row."""

HINTS = {
    "question": "Does a weight change when another key's score rises?",
    "concept": "The weights of a row sum to one: raising one score lowers the other weights.",
    "place": "In softmax_backward, subtract the row's weighted mean of grad instead of multiplying by 1 - weights.",
}
LOSES = (
    "softmax_backward.rows",
    "softmax_backward.batch",
    "softmax_backward.shapes",
    "softmax_backward.masked",
    "softmax_backward.empty_rows",
    "softmax_backward.constant",
    "softmax_backward.offset",
    "softmax_backward.saturated",
    "softmax_backward.float32",
)


def softmax_backward(grad, weights):
    return weights * (1 - weights) * grad
