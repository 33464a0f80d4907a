"""The gradient is float32 although the inputs are float64."""

import numpy as np

HINTS = {
    "question": "What is the dtype of your result, and what was that of the inputs?",
    "concept": "A gradient keeps the precision of its inputs.",
    "place": "In softmax_backward, remove the conversion to float32.",
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
)


def softmax_backward(grad, weights):
    result = weights * (grad - np.sum(grad * weights, axis=-1, keepdims=True))
    return result.astype(np.float32)
