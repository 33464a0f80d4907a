"""The gradient is float32 although the inputs are float64."""

import numpy as np

HINTS = {
    "question": "What is the dtype of your result, and what was that of the inputs?",
    "concept": "A gradient keeps the precision of its inputs.",
    "place": "In scale_backward, remove the conversion to float32.",
}
LOSES = ("scale_backward.values", "scale_backward.widths")


def scale_backward(grad, d_k):
    return (grad / d_k**0.5).astype(np.float32)
