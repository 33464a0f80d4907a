"""Nodes are visited by their distance from the end; a node that is also used further away has not heard all of it."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "x is used at the end and once more deep inside: when is its gradient complete?",
    "concept": "A node comes after all nodes that use it, however long the way.",
    "place": "In backward, visit a node after all its users: a depth-first order, reversed.",
}
LOSES = ("backward.again", "backward.order", "backward.parts", "backward.random", "backward.twins", "attention.*")


def by_distance(last):
    order, seen = [last], {id(last)}
    for node in order:
        for source in node.inputs:
            if id(source) not in seen:
                seen.add(id(source))
                order.append(source)
    return order


class Tensor(Tensor):
    def backward(self, grad=None):
        if grad is None:
            if self.data.size != 1:
                raise ValueError("several elements")
            grad = np.ones_like(self.data)
        arrived = {id(self): grad}
        for node in by_distance(self):
            whole = arrived.pop(id(node), np.zeros_like(node.data))
            if node.vjp is None:
                node.grad = np.array(whole) if node.grad is None else node.grad + whole
                continue
            for source, part in zip(node.inputs, node.vjp(whole), strict=True):
                known = arrived.get(id(source))
                arrived[id(source)] = part if known is None else known + part
