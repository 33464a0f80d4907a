""".T reverses all axes; only the last two change places."""

# ruff: noqa: F821
HINTS = {
    "question": "Which shape has x.T for an x of shape (2, 3, 4, 5)?",
    "concept": "A batch is a stack of matrices; transpose each of them, not the stack.",
    "place": "In matmul, use np.swapaxes(..., -1, -2).",
}
LOSES = ("operation.matmul", "broadcasting.matmul", "attention.batch", "attention.shared", "attention.self")


def matmul(a, b):
    def vjp(grad):
        by_a, by_b = grad @ b.data.T, a.data.T @ grad
        return sum_to_shape(by_a, a.data.shape), sum_to_shape(by_b, b.data.shape)

    return Tensor(a.data @ b.data, (a, b), vjp)
