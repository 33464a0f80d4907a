"""The sum over the copies is taken before the multiplication: each copy met another factor."""

# ruff: noqa: F821
HINTS = {
    "question": "Do all copies of a have the same partner?",
    "concept": "Multiply first, then sum over the copies.",
    "place": "In multiply, call sum_to_shape on the product.",
}
LOSES = ("broadcasting.multiply",)


def multiply(a, b):
    def vjp(grad):
        return sum_to_shape(grad, a.data.shape) * b.data, sum_to_shape(grad, b.data.shape) * a.data

    return Tensor(a.data * b.data, (a, b), vjp)
