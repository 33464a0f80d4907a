"""The gradient is passed through as if the softmax were not there."""

HINTS = {
    "question": "What is the result if grad is the same for all keys of a row?",
    "concept": "A constant added to all scores changes no weight: along a row, their gradient sums to zero.",
    "place": "In softmax_backward, multiply by the weights what is left of grad after its weighted mean.",
}
LOSES = ("softmax_backward.*",)


def softmax_backward(grad, weights):
    return grad * 1
