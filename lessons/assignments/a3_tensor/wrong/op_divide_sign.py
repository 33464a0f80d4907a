"""The divisor's gradient lacks its minus."""

# ruff: noqa: F821
HINTS = {
    "question": "Does a / b grow or fall when b grows?",
    "concept": "d(a/b)/db = -a / b^2.",
    "place": "In divide, the second gradient is negative.",
}
LOSES = ("operation.divide", "broadcasting.divide", "attention.*")


def divide(a, b):
    def vjp(grad):
        by_a, by_b = grad / b.data, grad * a.data / b.data**2
        return sum_to_shape(by_a, a.data.shape), sum_to_shape(by_b, b.data.shape)

    return Tensor(a.data / b.data, (a, b), vjp)
