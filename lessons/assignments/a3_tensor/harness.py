"""Plays with a student's Tensor: its functions one at a time, backward on graphs of our own, all of it as attention."""

import math

import numpy as np


def operation(student, name, upstream, *arrays, **settings):
    """What a function of the student's makes of its inputs, and what its vjp makes of the gradient `upstream`."""
    inputs = [student.Tensor(array) for array in arrays]
    result = getattr(student, name)(*inputs, **settings)
    remembered = [any(each is one for one in inputs) for each in result.inputs]
    return result.data, remembered, result.vjp(upstream)


broadcasting = operation


class Graph:
    """Nodes of the student's class with vjps of our own, whose calls are counted; all arrays have one shape."""

    def __init__(self, student):
        self.student, self.calls = student, 0

    def leaf(self, array):
        return self.student.Tensor(array)

    def node(self, data, inputs, *vjps):
        def vjp(grad):
            self.calls += 1
            return tuple(each(grad) for each in vjps)

        return self.student.Tensor(data, inputs, vjp)

    def add(self, a, b):
        return self.node(a.data + b.data, (a, b), lambda grad: grad, lambda grad: grad)

    def multiply(self, a, b):
        return self.node(a.data * b.data, (a, b), lambda grad: grad * b.data, lambda grad: grad * a.data)

    def scale(self, a, factor):
        return self.node(factor * a.data, (a,), lambda grad: factor * grad)

    def sine(self, a):
        return self.node(np.sin(a.data), (a,), lambda grad: grad * np.cos(a.data))

    def three(self, a, b, c):
        """a * b + c as one node."""
        parts = lambda grad: grad * b.data, lambda grad: grad * a.data, lambda grad: grad
        return self.node(a.data * b.data + c.data, (a, b, c), *parts)


def chain(g, x, y):
    return g.scale(g.multiply(g.scale(x, 3.0), y), -2.0)


def square(g, x, y):
    return g.multiply(x, x)


def three(g, x, y):
    return g.three(x, x, y)


def pair(g, x, y):
    return g.add(x, y)


def apart(g, x, y):
    """The gradient of x grows after that of y, which came as the same array."""
    return g.add(g.add(x, y), x)


def diamond(g, x, y):
    c, d = g.add(x, y), g.multiply(x, y)
    return g.add(g.add(c, d), g.multiply(c, d))


def doubled(g, x, y):
    b = g.add(x, x)
    return g.add(b, b)


def skip(g, x, y):
    """One way to x is short, the other long."""
    far = g.multiply(g.scale(g.multiply(g.scale(x, 2.0), y), 0.5), y)
    return g.add(x, far)


def skip_turned(g, x, y):
    far = g.multiply(g.scale(g.multiply(g.scale(x, 2.0), y), 0.5), y)
    return g.add(far, x)


def inner_skip(g, x, y):
    """An inner node is used at two depths."""
    a = g.multiply(x, y)
    return g.add(g.multiply(g.scale(g.multiply(a, x), 0.5), a), a)


def inner_skip_turned(g, x, y):
    a = g.multiply(x, y)
    return g.add(a, g.multiply(a, g.scale(g.multiply(x, a), 0.5)))


def ladder(g, x, y):
    """Two ways up at every step: 2^12 paths, 12 nodes."""
    for _ in range(12):
        x = g.add(x, x)
    return x


def deep(g, x, y):
    for _ in range(1500):
        x = g.scale(x, 1.001)
    return g.multiply(x, y)


def equal_twins(g, x, y):
    """Two nodes with equal data that are not the same node."""
    return g.multiply(g.scale(x, 2.0), g.multiply(g.add(x, x), g.add(y, g.leaf(x.data))))


def random_graph(g, x, y, plan):
    nodes = [x, y]
    for kind, i in plan:
        last, other = nodes[-1], nodes[i % len(nodes)]
        made = (g.add, g.multiply, lambda a, b: g.three(b, a, b), lambda a, b: g.scale(a, -1.5))[kind](last, other)
        nodes.append(g.sine(made))  # stays in bounds
    return nodes[-1]


GRAPHS = {
    each.__name__: each
    for each in (
        *(chain, square, three, pair, apart, diamond, doubled, skip, skip_turned, inner_skip, inner_skip_turned),
        *(ladder, deep, equal_twins, random_graph),
    )
}


def backward(student, name, way, upstream, x_data, y_data, *plan):
    """The gradients of two leaves and the number of vjps that were called; `way` says how backward is called."""
    g = Graph(student)
    x, y = g.leaf(x_data), g.leaf(y_data)
    result = x if name == "leaf" else GRAPHS[name](g, x, y, *plan)
    try:
        WAYS[way](g, result, x, y, upstream)
    except RecursionError:
        return "RecursionError"
    except ValueError:
        return "ValueError"
    return x.grad, y.grad, g.calls


def once(g, result, x, y, upstream):
    result.backward(upstream)


def without(g, result, x, y, upstream):
    result.backward()


def twice(g, result, x, y, upstream):
    result.backward(upstream)
    result.backward(upstream)


def cleared(g, result, x, y, upstream):
    result.backward(upstream)
    x.grad = y.grad = None
    result.backward(upstream)


def two_graphs(g, result, x, y, upstream):
    result.backward(upstream)
    g.multiply(g.scale(x, 2.0), y).backward(upstream)


def from_inside(g, result, x, y, upstream):
    """After the whole graph, backward from a node inside it, whose gradient of the first time is of no interest."""
    result.backward(upstream)
    inner = next(each for each in result.inputs if each.vjp is not None)
    inner.backward(upstream)


def extended(g, result, x, y, upstream):
    """A graph that has been walked becomes part of a larger one."""
    result.backward(upstream)
    g.add(result, g.multiply(result, x)).backward(upstream)


def touched(g, result, x, y, upstream):
    """What the caller does with one leaf's gradient is no other leaf's business."""
    result.backward(upstream)
    x.grad *= 3


WAYS = {each.__name__: each for each in (once, without, twice, cleared, two_graphs, from_inside, extended, touched)}


def attention(student, upstream, query, key=None, value=None, mask=None):
    """Attention of the student's Tensors: output and gradients; without key and value, one leaf is all three."""
    leaves = [student.Tensor(array) for array in (query, key, value) if array is not None]
    q, k, v = leaves if key is not None else leaves * 3
    scaled = q @ student.transpose(k) / math.sqrt(query.shape[-1])
    if mask is not None:
        scaled = scaled + mask
    terms = student.exp(scaled - np.max(scaled.data, axis=-1, keepdims=True))
    output = (terms / student.total(terms, axis=-1, keepdims=True)) @ v
    output.backward(upstream)
    return output.data, [leaf.grad for leaf in leaves]
