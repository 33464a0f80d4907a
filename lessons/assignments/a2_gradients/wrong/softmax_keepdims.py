"""Without keepdims the row sums line up with the columns, or with nothing at all."""

import numpy as np

HINTS = {
    "question": "Which shapes have grad and the sum?",
    "concept": "Broadcasting aligns shapes from the right: (L,) meets the columns, (L, 1) the rows.",
    "place": "In softmax_backward, use keepdims=True.",
}
LOSES = ("softmax_backward.*",)


def softmax_backward(grad, weights):
    return weights * (grad - np.sum(grad * weights, axis=-1))
