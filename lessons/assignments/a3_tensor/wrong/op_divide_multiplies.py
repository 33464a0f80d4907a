"""The numerator's gradient is multiplied by b, not divided."""

# ruff: noqa: F821
HINTS = {
    "question": "By how much does a/2 grow when a grows by 1?",
    "concept": "d(a/b)/da = 1/b.",
    "place": "In divide, the first gradient is grad / b.",
}
LOSES = ("operation.divide", "broadcasting.divide", "attention.*")


def divide(a, b):
    def vjp(grad):
        by_a, by_b = grad * b.data, -grad * a.data / b.data**2
        return sum_to_shape(by_a, a.data.shape), sum_to_shape(by_b, b.data.shape)

    return Tensor(a.data / b.data, (a, b), vjp)
