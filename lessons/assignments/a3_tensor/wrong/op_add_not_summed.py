"""add passes the gradient on as it came, also to an input that was broadcast."""

# ruff: noqa: F821
HINTS = {
    "question": "Which shape has the input, and which one its gradient?",
    "concept": "A gradient has the shape of its input.",
    "place": "In add, pass both gradients through sum_to_shape.",
}
LOSES = ("broadcasting.small", "broadcasting.add")


def add(a, b):
    return Tensor(a.data + b.data, (a, b), lambda grad: (grad, grad))
