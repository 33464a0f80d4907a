"""One Jacobian, that of the first row, serves all rows."""

import numpy as np

HINTS = {
    "question": "Do all queries have the same weights?",
    "concept": "Each row has a Jacobian of its own.",
    "place": "In softmax_backward, build the Jacobian for every row, or use the formula without it.",
}
LOSES = (
    "softmax_backward.rows",
    "softmax_backward.batch",
    "softmax_backward.shapes",
    "softmax_backward.masked",
    "softmax_backward.empty_rows",
    "softmax_backward.offset",
    "softmax_backward.saturated",
    "softmax_backward.float32",
)


def softmax_backward(grad, weights):
    first = weights.reshape(-1, weights.shape[-1])[0]
    return grad @ (np.diag(first) - np.outer(first, first))
