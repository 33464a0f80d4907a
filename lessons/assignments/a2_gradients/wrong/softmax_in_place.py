"""The gradient from above is overwritten: it belongs to the caller, who may still need it."""

import numpy as np

HINTS = {
    "question": "What does the caller's grad hold after grad *= weights?",
    "concept": "An operator like *= writes into its argument.",
    "place": "In softmax_backward, make a new array.",
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
    grad -= np.sum(grad * weights, axis=-1, keepdims=True)
    return weights * grad
