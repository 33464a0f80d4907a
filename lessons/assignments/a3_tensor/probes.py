"""Assignment a3: a tensor that differentiates."""

from functools import partial

import numpy as np

from tinyattn.grading.assignment import Assignment, Call, Question, Test, sizes


def normal(rng, *shapes):
    return [np.asarray(rng.normal(size=shape)) for shape in shapes]


# sum_to_shape ---------------------------------------------------------------------------------------------------------


def to_row(rng):
    return Call(rng.normal(size=(3, 2)), (2,))


def to_column(rng):
    return Call(rng.normal(size=(3, 2)), (3, 1))


def to_leading(rng):
    a, b, c, d = sizes(rng, 4)
    return Call(rng.normal(size=(a, b, c, d)), (c, d))


def to_stretched(rng):
    a, b, c = sizes(rng, 3)
    return Call(rng.normal(size=(a, b, c)), (a, 1, c))


def to_both(rng):
    a, b, c, d = sizes(rng, 4)
    return Call(rng.normal(size=(a, b, c, d)), (b, 1, d))


def to_all_ones(rng):
    a, b, c = sizes(rng, 3)
    return Call(rng.normal(size=(a, b, c)), (1, 1))


def to_same(rng):
    a, b = sizes(rng, 2)
    return Call(rng.normal(size=(a, b)), (a, b))


def to_same_ones(rng):
    """An axis of size 1 that was not stretched."""
    a, b = sizes(rng, 2)
    return Call(rng.normal(size=(a, 1, b)), (a, 1, b))


def to_scalar(rng):
    a, b = sizes(rng, 2)
    return Call(rng.normal(size=(a, b)), ())


def to_scalar_from_scalar(rng):
    return Call(*normal(rng, ()), ())


# operation and broadcasting -------------------------------------------------------------------------------------------


def binary(name, rng, *shapes):
    """A call of a function of two arrays; the second stays away from zero, so that it may divide."""
    a, b = normal(rng, *shapes)
    b = np.sign(b) * (0.5 + np.abs(b))
    result = a @ b if name == "matmul" else a + b
    return Call(name, *normal(rng, result.shape), a, b)


def small(name):
    return lambda rng: binary(name, rng, (2, 3), (2, 3))


def whole(name):
    return lambda rng: binary(name, rng, *[sizes(rng, 3)] * 2)


def exp_batch(rng):
    shape = sizes(rng, 3)
    return Call("exp", *normal(rng, shape, shape))


def exp_vector(rng):
    (n,) = sizes(rng, 1, 3)
    return Call("exp", *normal(rng, (n,), (n,)))


def matmul_pair(rng):
    a, b, c = sizes(rng, 3)
    return binary("matmul", rng, (a, b), (b, c))


def matmul_square(rng):
    (n,) = sizes(rng, 1, 3)
    return binary("matmul", rng, (n, n), (n, n))


def matmul_batch(rng):
    B, H, a, b, c = sizes(rng, 5, 2, 9)
    return binary("matmul", rng, (B, H, a, b), (B, H, b, c))


def transpose_pair(rng):
    a, b = sizes(rng, 2)
    return Call("transpose", *normal(rng, (b, a), (a, b)))


def transpose_batch(rng):
    B, a, b = sizes(rng, 3)
    return Call("transpose", *normal(rng, (B, b, a), (B, a, b)))


def total_all(rng):
    return Call("total", *normal(rng, (), sizes(rng, 3)))


def total_keep_all(rng):
    return Call("total", *normal(rng, (1, 1), sizes(rng, 2)), keepdims=True)


def total_last(rng):
    a, b, c = sizes(rng, 3)
    return Call("total", *normal(rng, (a, b), (a, b, c)), axis=-1)


def total_middle(rng):
    a, b, c = sizes(rng, 3)
    return Call("total", *normal(rng, (a, c), (a, b, c)), axis=1)


def total_square(rng):
    (n,) = sizes(rng, 1, 3)
    return Call("total", *normal(rng, (n,), (n, n)), axis=1)


def total_keep(rng):
    a, b, c = sizes(rng, 3)
    return Call("total", *normal(rng, (a, 1, c), (a, b, c)), axis=1, keepdims=True)


def spread(name, *pattern):
    """Shapes such as "ab" and "b": letters are sizes, 1 is itself."""

    def probe(rng):
        size = dict(zip("abcd", sizes(rng, 4), strict=True)) | {"1": 1}
        return binary(name, rng, *([size[each] for each in letters] for letters in pattern))

    return probe


# backward -------------------------------------------------------------------------------------------------------------


def walk(name, way="once", shape=None):
    def probe(rng):
        upstream, x, y = normal(rng, *[sizes(rng, 2) if shape is None else shape] * 3)
        return Call(name, way, upstream, x, y)

    return probe


def walk_small(name):
    return walk(name, shape=(3,))


def walk_random(seed):
    """A graph whose wiring does not depend on the key, so that what a wrong order makes of it does not either."""
    plan = np.random.default_rng(seed).integers(0, (4, 100), (14, 2))
    plan[0] = 1, 0  # both leaves are used
    probe = walk("random_graph")
    return lambda rng: Call(*probe(rng).args, plan)


# attention ------------------------------------------------------------------------------------------------------------


def attend(rng, *front, key_front=None, mask=None):
    L, S, E, Ev = sizes(rng, 4, 3, 9)
    behind = front if key_front is None else key_front
    arrays = normal(rng, (*front, L, Ev), (*front, L, E), (*behind, S, E), (*behind, S, Ev))
    return Call(*arrays, mask=None if mask is None else mask(rng, L, S))


def causal(rng, L, S):
    return np.where(np.tri(L, S, dtype=bool), 0, -1e9)


def padding(rng, L, S):
    return np.where(np.arange(S) < S - 1, 0, -1e9)


def attend_self(rng):
    B, n, E = sizes(rng, 3, 3, 9)
    return Call(*normal(rng, (B, n, E), (B, n, E)), mask=causal(rng, n, n))


DERIVED = 1e-11  # closer than a central difference comes to the derivative of a function that is not linear


ASSIGNMENT = Assignment(
    title="A tensor that differentiates",
    file="a3_tensor.py",
    questions=(
        Question(
            "sum_to_shape",
            (
                Test("values", 3, (to_row, to_column), public=True, about="a table, summed to a row and to a column"),
                Test("leading", 2, (to_leading,), about="axes that the input does not have"),
                Test("stretched", 3, (to_stretched,), about="axes of size 1 that were stretched"),
                Test("both", 3, (to_both, to_all_ones), about="both kinds at once"),
                Test("same", 2, (to_same, to_same_ones), about="nothing to sum"),
                Test("scalar", 1, (to_scalar, to_scalar_from_scalar), about="a single number, of shape ()"),
            ),
            gradient=True,
        ),
        Question(
            "operation",
            (
                Test("add", 2, (small("add"), whole("add")), public=True, about="a + b"),
                Test("multiply", 3, (small("multiply"), whole("multiply")), public=True, about="a * b"),
                Test("divide", 3, (whole("divide"),), about="a / b", tolerance=DERIVED),
                Test("exp", 3, (exp_batch, exp_vector), about="exp(a)", tolerance=DERIVED),
                Test("matmul", 4, (matmul_pair, matmul_square, matmul_batch), about="a @ b"),
                Test("transpose", 3, (transpose_pair, transpose_batch), about="transpose(a)"),
                Test("total", 4, (total_all, total_last, total_middle, total_square), about="total(a, axis)"),
                Test("total_kept", 2, (total_keep, total_keep_all), about="total(a, axis, keepdims=True)"),
            ),
            needs=("sum_to_shape",),
        ),
        Question(
            "broadcasting",
            (
                Test("small", 2, (spread("add", "ab", "b"), spread("add", "a1", "ab")), public=True, about="a + b"),
                Test("add", 2, (spread("add", "abc", "1"), spread("add", "b1", "abc")), about="a + b"),
                Test("multiply", 2, (spread("multiply", "abc", "c"), spread("multiply", "a1", "1b")), about="a * b"),
                Test("divide", 3, (spread("divide", "abc", "ab1"), spread("divide", "", "ab")), about="a / b"),
                Test(
                    "matmul",
                    3,
                    (spread("matmul", "abc", "cd"), spread("matmul", "bc", "acd"), spread("matmul", "a1bc", "1dcb")),
                    about="a @ b with different axes in front",
                ),
            ),
            needs=("sum_to_shape",),
        ),
        Question(
            "backward",
            (
                Test("chain", 3, (walk_small("chain"), walk("chain")), public=True, about="one way from end to leaf"),
                Test("leaf", 2, (walk("leaf"), walk("leaf", "twice")), about="backward from a leaf"),
                Test("reuse", 3, (walk_small("square"), walk_small("doubled")), public=True, about="a node used twice"),
                Test("reuse_hidden", 3, (walk("square"), walk("three"), walk("doubled")), about="a node used twice"),
                Test("apart", 3, (walk("apart"), walk("pair", "touched")), about="gradients that came as one array"),
                Test(
                    "order",
                    5,
                    tuple(map(walk, ("diamond", "skip", "skip_turned", "inner_skip", "inner_skip_turned"))),
                    about="several ways from the end to a node",
                ),
                Test("random", 3, tuple(map(walk_random, range(3))), about="tangled graphs"),
                Test("twins", 2, (walk("equal_twins"),), about="different nodes with equal data"),
                Test("paths", 2, (walk("ladder"),), about="many ways through few nodes"),
                Test("deep", 2, (walk("deep"),), about="thousands of nodes in a chain"),
                Test(
                    "again",
                    4,
                    (walk("diamond", "twice"), walk("inner_skip", "cleared"), walk("square", "two_graphs")),
                    about="backward more than once",
                ),
                Test(
                    "parts",
                    2,
                    (walk("diamond", "from_inside"), walk("diamond", "extended")),
                    about="backward from parts of a graph",
                ),
                Test(
                    "without_grad",
                    3,
                    tuple(walk("diamond", "without", shape) for shape in ((), (1,), (1, 1))),
                    about="backward() of a single element",
                ),
                Test("refused", 1, (walk("diamond", "without", (2,)),), about="backward() of several elements"),
            ),
        ),
        Question(
            "attention",
            (
                Test("values", 3, (attend, partial(attend, mask=causal)), about="one sequence"),
                Test("batch", 3, (lambda rng: attend(rng, 2, 3, mask=padding),), about="batches, with a mask"),
                Test("shared", 3, (lambda rng: attend(rng, 2, 3, key_front=(2, 1)),), about="heads that share keys"),
                Test("self", 3, (attend_self,), about="one Tensor as query, key and value"),
            ),
            needs=("sum_to_shape",),
        ),
    ),
)  # fmt: skip
