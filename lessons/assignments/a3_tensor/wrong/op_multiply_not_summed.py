"""multiply does not sum the gradient of an input that was broadcast."""

# ruff: noqa: F821
HINTS = {
    "question": "Which shape has the input, and which one its gradient?",
    "concept": "A gradient has the shape of its input.",
    "place": "In multiply, pass both gradients through sum_to_shape.",
}
LOSES = ("broadcasting.multiply",)


def multiply(a, b):
    return Tensor(a.data * b.data, (a, b), lambda grad: (grad * b.data, grad * a.data))
