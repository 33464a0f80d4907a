"""The nodes are sorted by a function that calls itself, which ends at Python's limit of about 1,000 calls."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "How many calls are open at once in a long chain of nodes?",
    "concept": "Python's recursion is limited; a list that you push to and pop from is not.",
    "place": "In backward, keep the nodes that wait in a list of your own.",
}
LOSES = ("backward.deep",)


def by_recursion(last):
    order, seen = [], set()

    def visit(node):
        if id(node) not in seen:
            seen.add(id(node))
            for source in node.inputs:
                visit(source)
            order.append(node)

    visit(last)
    return order


class Tensor(Tensor):
    def backward(self, grad=None):
        if grad is None:
            if self.data.size != 1:
                raise ValueError("several elements")
            grad = np.ones_like(self.data)
        arrived = {id(self): grad}
        for node in reversed(by_recursion(self)):
            whole = arrived.pop(id(node))
            if node.vjp is None:
                node.grad = np.array(whole) if node.grad is None else node.grad + whole
                continue
            for source, part in zip(node.inputs, node.vjp(whole), strict=True):
                known = arrived.get(id(source))
                arrived[id(source)] = part if known is None else known + part
