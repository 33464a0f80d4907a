"""The softmax is applied to the weights again; they are the softmax's output already."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "Is the second argument what went into the softmax, or what came out?",
    "concept": "The gradient of the softmax needs only its output.",
    "place": "In softmax_backward, use the weights as they are.",
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
    weights = masked_softmax(weights)
    return weights * (grad - np.sum(grad * weights, axis=-1, keepdims=True))
