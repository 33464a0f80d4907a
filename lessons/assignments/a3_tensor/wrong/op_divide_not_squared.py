"""The divisor's gradient divides by b once only."""

# ruff: noqa: F821
HINTS = {
    "question": "What is the derivative of 1/b?",
    "concept": "d(a/b)/db = -a / b^2.",
    "place": "In divide, the second gradient has b squared.",
}
LOSES = ("operation.divide", "broadcasting.divide", "attention.*")


def divide(a, b):
    def vjp(grad):
        by_a, by_b = grad / b.data, -grad * a.data / b.data
        return sum_to_shape(by_a, a.data.shape), sum_to_shape(by_b, b.data.shape)

    return Tensor(a.data / b.data, (a, b), vjp)
