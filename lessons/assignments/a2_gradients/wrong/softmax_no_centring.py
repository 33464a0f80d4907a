"""The weighted mean of the row is not subtracted: the weights of a row share a whole, so one gains what others lose."""

HINTS = {
    "question": "What is your result for a grad of ones, and what should it be?",
    "concept": "A grad that is the same for all keys of a row changes nothing: the weights sum to one in any case.",
    "place": "In softmax_backward, subtract sum(grad * weights) of the row from grad first.",
}
LOSES = (
    "softmax_backward.rows",
    "softmax_backward.batch",
    "softmax_backward.shapes",
    "softmax_backward.one_key",
    "softmax_backward.masked",
    "softmax_backward.empty_rows",
    "softmax_backward.constant",
    "softmax_backward.offset",
    "softmax_backward.saturated",
    "softmax_backward.float32",
)


def softmax_backward(grad, weights):
    return weights * grad
