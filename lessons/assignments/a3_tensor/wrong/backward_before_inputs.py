"""The order puts a node before its inputs as it is first met, so another use may come later."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "x is used at the end and once more deep inside: when is its gradient complete?",
    "concept": "A node comes after all nodes that use it: note it when its inputs are done, and reverse.",
    "place": "In backward, append a node after its inputs, and reverse the list.",
}
LOSES = (
    "backward.again",
    "backward.apart",
    "backward.order",
    "backward.parts",
    "backward.random",
    "backward.twins",
    "backward.without_grad",
    "attention.self",
)


def as_met(last):
    order, seen, waiting = [], set(), [last]
    while waiting:
        node = waiting.pop()
        if id(node) not in seen:
            seen.add(id(node))
            order.append(node)
            waiting.extend(node.inputs)
    return order


class Tensor(Tensor):
    def backward(self, grad=None):
        if grad is None:
            if self.data.size != 1:
                raise ValueError("several elements")
            grad = np.ones_like(self.data)
        arrived = {id(self): grad}
        for node in as_met(self):
            whole = arrived.pop(id(node), np.zeros_like(node.data))
            if node.vjp is None:
                node.grad = np.array(whole) if node.grad is None else node.grad + whole
                continue
            for source, part in zip(node.inputs, node.vjp(whole), strict=True):
                known = arrived.get(id(source))
                arrived[id(source)] = part if known is None else known + part
