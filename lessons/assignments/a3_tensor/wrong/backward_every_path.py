"""Each path to a leaf is walked by itself: right numbers, but the number of paths doubles at every fork."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "How many paths lead through 12 nodes that each use the one before twice?",
    "concept": "If a node waits until all of its uses have been heard, its vjp is called once.",
    "place": "In backward, sort the nodes first, then visit each once.",
}
LOSES = (
    "backward.again",
    "backward.apart",
    "backward.order",
    "backward.parts",
    "backward.paths",
    "backward.random",
    "backward.reuse",
    "backward.reuse_hidden",
    "backward.without_grad",
)


class Tensor(Tensor):
    def backward(self, grad=None):
        if grad is None:
            if self.data.size != 1:
                raise ValueError("several elements")
            grad = np.ones_like(self.data)
        waiting = [(self, np.array(grad))]
        while waiting:
            node, part = waiting.pop()
            if node.vjp is None:
                node.grad = part if node.grad is None else node.grad + part
            else:
                waiting.extend(zip(node.inputs, node.vjp(part), strict=True))
