"""An input that serves several sequences gets a gradient for each of them; they have to be added up."""

import numpy as np

HINTS = {
    "question": "Which shape has the key, and which one your gradient?",
    "concept": "Gradients of several uses add up: sum over the axes along which an input was repeated.",
    "place": "In scores_backward, sum over the axes that the input does not have, or has with size 1.",
}
LOSES = ("scores_backward.shared",)


def scores_backward(grad, query, key):
    grad_query = grad @ key
    grad_key = np.swapaxes(grad, -1, -2) @ query
    return grad_query, grad_key
