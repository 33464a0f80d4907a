"""The gradient is shared out between the two terms; each of them gets all of it."""

# ruff: noqa: F821
HINTS = {
    "question": "By how much does a + b grow when a grows by 1?",
    "concept": "Both terms of a sum have the derivative 1.",
    "place": "In add, remove the factor one half.",
}
LOSES = ("operation.add", "broadcasting.small", "broadcasting.add", "attention.*")


def add(a, b):
    def vjp(grad):
        by_a, by_b = grad / 2, grad / 2
        return sum_to_shape(by_a, a.data.shape), sum_to_shape(by_b, b.data.shape)

    return Tensor(a.data + b.data, (a, b), vjp)
