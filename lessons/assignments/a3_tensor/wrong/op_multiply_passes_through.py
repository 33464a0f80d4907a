"""A product passes the gradient through like a sum."""

# ruff: noqa: F821
HINTS = {
    "question": "By how much does 3a grow when a grows by 1?",
    "concept": "The derivative of a product by one factor is the other factor.",
    "place": "In multiply, multiply grad by the other factor.",
}
LOSES = ("operation.multiply", "broadcasting.multiply")


def multiply(a, b):
    def vjp(grad):
        by_a, by_b = grad, grad
        return sum_to_shape(by_a, a.data.shape), sum_to_shape(by_b, b.data.shape)

    return Tensor(a.data * b.data, (a, b), vjp)
