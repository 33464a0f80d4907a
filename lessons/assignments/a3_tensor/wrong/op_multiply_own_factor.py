"""Each factor gets itself as its derivative: d(ab)/da is b, not a."""

# ruff: noqa: F821
HINTS = {
    "question": "What is the derivative of ab by a?",
    "concept": "The derivative of a product by one factor is the other factor.",
    "place": "In multiply, exchange the two factors.",
}
LOSES = ("operation.multiply", "broadcasting.multiply")


def multiply(a, b):
    def vjp(grad):
        by_a, by_b = grad * a.data, grad * b.data
        return sum_to_shape(by_a, a.data.shape), sum_to_shape(by_b, b.data.shape)

    return Tensor(a.data * b.data, (a, b), vjp)
