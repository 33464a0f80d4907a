"""All axes are reversed; only the last two change places."""

# ruff: noqa: F821
HINTS = {
    "question": "Which shape has x.T for an x of shape (2, 3, 4)?",
    "concept": "A batch is a stack of matrices; transpose each of them, not the stack.",
    "place": "In transpose, use np.swapaxes(..., -1, -2).",
}
LOSES = ("operation.transpose", "attention.batch", "attention.shared", "attention.self")


def transpose(a):
    return Tensor(a.data.T, (a,), lambda grad: (grad.T,))
