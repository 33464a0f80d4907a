"""The divisor's gradient forgets the numerator."""

# ruff: noqa: F821
HINTS = {
    "question": "What is the derivative of a/b by b if a is 0?",
    "concept": "d(a/b)/db = -a / b^2.",
    "place": "In divide, multiply the second gradient by a.",
}
LOSES = ("operation.divide", "broadcasting.divide", "attention.*")


def divide(a, b):
    def vjp(grad):
        by_a, by_b = grad / b.data, -grad / b.data**2
        return sum_to_shape(by_a, a.data.shape), sum_to_shape(by_b, b.data.shape)

    return Tensor(a.data / b.data, (a, b), vjp)
