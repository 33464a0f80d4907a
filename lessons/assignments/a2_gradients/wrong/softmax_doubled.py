"""Every entry is twice as large as it should be: one contribution is added twice."""

import numpy as np

HINTS = {
    "question": "Which term did you count twice?",
    "concept": "The diagonal entry of the Jacobian is weight (1 - weight), once.",
    "place": "In softmax_backward, remove the factor 2.",
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
    return 2 * weights * (grad - np.sum(grad * weights, axis=-1, keepdims=True))
