"""The rule for products of numbers is used for a matrix product."""

# ruff: noqa: F821
HINTS = {
    "question": "Which shapes have grad and b?",
    "concept": "For C = A B the gradients are dA = dC B^T and dB = A^T dC.",
    "place": "In matmul, use @ and transposed factors.",
}
LOSES = ("operation.matmul", "broadcasting.matmul", "attention.*")


def matmul(a, b):
    def vjp(grad):
        by_a, by_b = grad * b.data, grad * a.data
        return sum_to_shape(by_a, a.data.shape), sum_to_shape(by_b, b.data.shape)

    return Tensor(a.data @ b.data, (a, b), vjp)
