"""Every visit passes on all that a node has gathered so far, so early parts are counted again."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "b = a + a; c = b + b: with what does a's vjp start at the second visit of b?",
    "concept": "A node may pass its gradient on only when all of its uses have been heard, and then once.",
    "place": "In backward, sort the nodes first, then visit each once.",
}
LOSES = (
    "backward.again",
    "backward.deep",
    "backward.order",
    "backward.parts",
    "backward.paths",
    "backward.random",
    "backward.reuse",
    "backward.reuse_hidden",
    "backward.without_grad",
    "attention.*",
)


class Tensor(Tensor):
    def backward(self, grad=None):
        if grad is None:
            if self.data.size != 1:
                raise ValueError("several elements")
            grad = np.ones_like(self.data)
        for node in inputs_first(self):
            node.gathered = np.zeros_like(node.data)
        self.gathered = np.array(grad)

        def visit(node):
            if node.vjp is not None:
                for source, part in zip(node.inputs, node.vjp(node.gathered), strict=True):
                    source.gathered = source.gathered + part
                    visit(source)

        visit(self)
        for node in inputs_first(self):
            if node.vjp is None:
                node.grad = node.gathered if node.grad is None else node.grad + node.gathered
