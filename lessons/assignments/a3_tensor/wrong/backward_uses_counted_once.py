"""A node waits for each of its users once, also for one that uses it twice."""

# ruff: noqa: F821
import numpy as np

HINTS = {
    "question": "How often does x * x hand a part to x?",
    "concept": "Count uses, not users.",
    "place": "In backward, count a node once for each place among the inputs of others.",
}
LOSES = ("backward.random", "backward.twins")


class Tensor(Tensor):
    def backward(self, grad=None):
        if grad is None:
            if self.data.size != 1:
                raise ValueError("several elements")
            grad = np.ones_like(self.data)
        users = {}
        for node in inputs_first(self):
            for source in {id(each): each for each in node.inputs}.values():
                users[id(source)] = users.get(id(source), 0) + 1
        arrived, ready = {id(self): grad}, [self]
        while ready:
            node = ready.pop()
            whole = arrived.pop(id(node), np.zeros_like(node.data))
            if node.vjp is None:
                node.grad = np.array(whole) if node.grad is None else node.grad + whole
                continue
            for source, part in zip(node.inputs, node.vjp(whole), strict=True):
                known = arrived.get(id(source))
                arrived[id(source)] = part if known is None else known + part
                users[id(source)] -= 1
                if users[id(source)] == 0:
                    ready.append(source)
