"""The gradient from above is ignored: the walk starts with ones."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "What happens to the leaves if grad is doubled?",
    "concept": "backward(grad) starts with grad; ones are for a single element without grad.",
    "place": "In backward, start with grad if there is one.",
}
LOSES = (
    "backward.again",
    "backward.apart",
    "backward.chain",
    "backward.deep",
    "backward.leaf",
    "backward.order",
    "backward.parts",
    "backward.paths",
    "backward.random",
    "backward.reuse",
    "backward.reuse_hidden",
    "backward.twins",
    "attention.*",
)


class Tensor(Tensor):
    def backward(self, grad=None):
        if grad is None:
            if self.data.size != 1:
                raise ValueError("several elements")
            grad = np.ones_like(self.data)
        arrived = {id(self): np.ones_like(self.data)}
        for node in reversed(inputs_first(self)):
            whole = arrived.pop(id(node))
            if node.vjp is None:
                node.grad = np.array(whole) if node.grad is None else node.grad + whole
                continue
            for source, part in zip(node.inputs, node.vjp(whole), strict=True):
                known = arrived.get(id(source))
                arrived[id(source)] = part if known is None else known + part
