"""Nodes are told apart by their data; two nodes with the same numbers are two nodes."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "May two leaves have equal numbers?",
    "concept": "A node is itself: compare with id() or is, not by its numbers.",
    "place": "In backward, remember visited nodes by id.",
}
LOSES = ("backward.twins",)


def by_data(last):
    order, seen, waiting = [], set(), [(last, False)]
    while waiting:
        node, inputs_done = waiting.pop()
        if inputs_done:
            order.append(node)
        elif node.data.tobytes() not in seen:
            seen.add(node.data.tobytes())
            waiting.append((node, True))
            waiting.extend((source, False) for source in node.inputs)
    return order


class Tensor(Tensor):
    def backward(self, grad=None):
        if grad is None:
            if self.data.size != 1:
                raise ValueError("several elements")
            grad = np.ones_like(self.data)
        arrived = {id(self): grad}
        for node in reversed(by_data(self)):
            whole = arrived.pop(id(node), np.zeros_like(node.data))
            if node.vjp is None:
                node.grad = np.array(whole) if node.grad is None else node.grad + whole
                continue
            for source, part in zip(node.inputs, node.vjp(whole), strict=True):
                known = arrived.get(id(source))
                arrived[id(source)] = part if known is None else known + part
