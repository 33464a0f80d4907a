"""Assignment a2: the gradients of the four steps, by hand."""

import math

import numpy as np

from tinyattn.grading.assignment import Assignment, Call, Question, Test, sizes


def normal(rng, *shapes):
    return [rng.normal(size=shape) for shape in shapes]


def softmax(table, allowed=True):
    """Weights for a probe; a row without an allowed key has weights of zero."""
    terms = np.where(allowed, np.exp(table - np.max(table, axis=-1, keepdims=True)), 0)
    total = np.sum(terms, axis=-1, keepdims=True)
    return terms / np.where(total == 0, 1, total)


def some_keys(rng, shape):
    """A boolean mask in which every query may attend to some of the keys."""
    mask = rng.random(shape) < 0.5
    at = rng.integers(0, shape[-1], (*shape[:-1], 1))
    np.put_along_axis(mask, at, True, axis=-1)
    np.put_along_axis(mask, (at + 1) % shape[-1], True, axis=-1)
    np.put_along_axis(mask, (at + 2) % shape[-1], False, axis=-1)
    return mask


def empty_row(rng, shape):
    """The same, with one query that may attend to no key."""
    mask = some_keys(rng, shape)
    mask[..., 1, :] = False
    return mask


def single(probe):
    """The same probe in float32."""

    def drawn(rng):
        call = probe(rng)
        return Call(*(each.astype(np.float32) if isinstance(each, np.ndarray) else each for each in call.args))

    return drawn


# scores_backward ------------------------------------------------------------------------------------------------------


def score_pair(rng):
    return Call(*normal(rng, (2, 3), (2, 4), (3, 4)))


def score_batch(rng):
    B, H, L, S, E = sizes(rng, 5, 2, 9)
    return Call(*normal(rng, (B, H, L, S), (B, H, L, E), (B, H, S, E)))


def score_square(rng):
    B, n = sizes(rng, 2, 3, 9)
    return Call(*normal(rng, (B, n, n), (B, n, n), (B, n, n)))


def score_single(rng):
    S, E = sizes(rng, 2, 3)
    return Call(*normal(rng, (1, S), (1, E), (S, E)))


def score_shared_keys(rng):
    B, L, S, E = sizes(rng, 4)
    return Call(*normal(rng, (B, L, S), (B, L, E), (S, E)))


def score_shared_heads(rng):
    B, H, L, S, E = sizes(rng, 5, 2, 9)
    return Call(*normal(rng, (B, H, L, S), (B, H, L, E), (B, 1, S, E)))


def score_shared_queries(rng):
    B, H, L, S, E = sizes(rng, 5, 2, 9)
    return Call(*normal(rng, (B, H, L, S), (1, L, E), (B, H, S, E)))


def huge(probe):
    """The same probe with huge numbers in its second input, beside which a difference of outputs loses its digits."""

    def drawn(rng):
        grad, second, third = probe(rng).args
        second[..., 0] = 1e12
        return Call(grad, second, third)

    return drawn


# scale_backward -------------------------------------------------------------------------------------------------------


def scale_small(rng):
    return Call(rng.normal(size=(2, 3)), 5)


def scale_batch(rng):
    B, L, S = sizes(rng, 3)
    return Call(rng.normal(size=(B, L, S)), int(rng.integers(17, 24)))


def scale_wide(rng):
    L, S = sizes(rng, 2)
    return Call(1000 * rng.normal(size=(L, S)), int(rng.integers(65, 200)))


# softmax_backward -----------------------------------------------------------------------------------------------------


def row_pair(rng):
    return Call(rng.normal(size=(2, 4)), softmax(rng.normal(size=(2, 4))))


def row_batch(rng):
    shape = sizes(rng, 4, 2, 9)
    return Call(rng.normal(size=shape), softmax(rng.normal(size=shape)))


def row_square(rng):
    (n,) = sizes(rng, 1, 3, 9)
    return Call(rng.normal(size=(n, n)), softmax(rng.normal(size=(n, n))))


def row_single(rng):
    S = int(rng.integers(3, 9))
    return Call(rng.normal(size=(1, S)), softmax(rng.normal(size=(1, S))))


def row_one_key(rng):
    shape = (*sizes(rng, 2), 1)
    return Call(rng.normal(size=shape), np.ones(shape))


def row_masked(rng):
    B, L, S = sizes(rng, 3, 4, 12)
    return Call(rng.normal(size=(B, L, S)), softmax(rng.normal(size=(B, L, S)), some_keys(rng, (B, L, S))))


def row_empty(rng):
    L, S = sizes(rng, 2, 4, 12)
    return Call(rng.normal(size=(L, S)), softmax(rng.normal(size=(L, S)), empty_row(rng, (L, S))))


def row_empty_all(rng):
    shape = sizes(rng, 2)
    return Call(rng.normal(size=shape), np.zeros(shape))


def row_constant(rng):
    B, L, S = sizes(rng, 3, 3)
    return Call(np.repeat(rng.normal(size=(B, L, 1)), S, axis=-1), softmax(rng.normal(size=(B, L, S))))


def row_ones(rng):
    shape = sizes(rng, 2, 3)
    return Call(np.ones(shape), softmax(rng.normal(size=shape)))


def row_offset(rng):
    """A large constant in the gradient changes nothing, but costs a difference of two outputs its digits."""
    L, S = sizes(rng, 2, 4)
    return Call(1e5 + rng.normal(size=(L, S)), softmax(rng.normal(size=(L, S))))


def row_saturated(rng):
    L, S = sizes(rng, 2, 4)
    weights = softmax(rng.normal(size=(L, S)) * np.geomspace(1, 1000, L)[:, None])
    return Call(rng.normal(size=(L, S)), weights)


# weighted_sum_backward ------------------------------------------------------------------------------------------------


def sum_pair(rng):
    return Call(rng.normal(size=(2, 4)), softmax(rng.normal(size=(2, 3))), rng.normal(size=(3, 4)))


def sum_of(rng, front, L, S, Ev, value=None):
    shape = (*front, S, Ev) if value is None else value
    return Call(rng.normal(size=(*front, L, Ev)), softmax(rng.normal(size=(*front, L, S))), rng.normal(size=shape))


def sum_batch(rng):
    B, H, L, S, Ev = sizes(rng, 5, 2, 9)
    return sum_of(rng, (B, H), L, S, Ev)


def sum_square(rng):
    B, n = sizes(rng, 2, 3, 9)
    return sum_of(rng, (B,), n, n, n)


def sum_single(rng):
    S, Ev = sizes(rng, 2, 3)
    return sum_of(rng, (), 1, S, Ev)


def sum_shared_values(rng):
    B, L, S, Ev = sizes(rng, 4)
    return sum_of(rng, (B,), L, S, Ev, value=(S, Ev))


def sum_shared_heads(rng):
    B, H, L, S, Ev = sizes(rng, 5, 2, 9)
    return sum_of(rng, (B, H), L, S, Ev, value=(B, 1, S, Ev))


def huge_value(probe):
    """The same probe with one huge value: see huge."""

    def drawn(rng):
        grad, weights, value = probe(rng).args
        value[..., 0, :] = 1e12
        return Call(grad, weights, value)

    return drawn


# attention_backward ---------------------------------------------------------------------------------------------------


def inputs(rng, *front, L=None, S=None, shared=None):
    """grad, query, key and value; key and value have the axes `shared` in front, if these are given."""
    free = [size for size in sizes(rng, 8, 3, 11) if size not in (L, S)]
    L, S, E, Ev = L or free[0], S or free[1], free[2], free[3]
    behind = front if shared is None else shared
    return normal(rng, (*front, L, Ev), (*front, L, E), (*behind, S, E), (*behind, S, Ev))


def attend_small(rng):
    return Call(*normal(rng, (2, 5), (2, 3), (4, 3), (4, 5)))


def attend(rng):
    return Call(*inputs(rng))


def attend_batch(rng):
    return Call(*inputs(rng, 2, 3))


def attend_square(rng):
    (n,) = sizes(rng, 1, 3, 9)
    return Call(*normal(rng, *[(2, n, n)] * 4))


def attend_shared(rng):
    return Call(*inputs(rng, 3, 2, shared=(3, 1)))


def attend_offset(rng):
    """Values with a large constant: see row_offset."""
    grad, query, key, value = inputs(rng)
    return Call(grad, query, key, value + 1e5)


def attend_large(rng):
    grad, query, key, value = inputs(rng)
    query[:, 0], key[:, 0] = 1000 * np.sqrt(query.shape[-1]), 1  # every scaled score is 1000 and a little
    return Call(grad, query, key, value)


def attend_mask(rng):
    args = inputs(rng, 2)
    return Call(*args, mask=some_keys(rng, (args[1].shape[-2], args[2].shape[-2])))


def attend_padding(rng):
    args = inputs(rng, 3, 2)
    S = args[2].shape[-2]
    lengths = np.array([1, S - 1, S])
    return Call(*args, mask=(np.arange(S) < lengths[:, None])[:, None, None])


def attend_empty(rng):
    args = inputs(rng)
    return Call(*args, mask=empty_row(rng, (args[1].shape[-2], args[2].shape[-2])))


def attend_causal_small(rng):
    return Call(*normal(rng, (3, 4), (3, 2), (3, 2), (3, 4)), is_causal=True)


def attend_causal(rng):
    return Call(*inputs(rng, 2, L=6, S=6), is_causal=True)


def attend_causal_more_keys(rng):
    L, S = sorted(sizes(rng, 2, 3, 9))
    return Call(*inputs(rng, 2, L=L, S=S), is_causal=True)


def attend_causal_more_queries(rng):
    S, L = sorted(sizes(rng, 2, 3, 9))
    return Call(*inputs(rng, 2, L=L, S=S), is_causal=True)


def attend_causal_mask(rng):
    mask = some_keys(rng, (6, 7))
    mask[:, 0] = mask[0, :3] = True
    mask[4, :3] = [True, False, True]
    return Call(*inputs(rng, 2, L=6, S=7), mask, True)


# What derived gradients need of the forward steps, with room: each step once for every slice of a batch, or every row.


def slices(call):
    return math.prod(call.args[0].shape[:-2])


DERIVED = {"complex": lambda call: 0, "exp": lambda call: 0, "given": lambda call: 2 + 2 * slices(call)}
DERIVED_SOFTMAX = DERIVED | {"exp": lambda call: 2 * call.args[1].size}
DERIVED_ATTENTION = {
    "complex": lambda call: 0,
    "exp": lambda call: 3 * math.prod(call.args[0].shape[:-1]) * call.args[2].shape[-2],
    "given": lambda call: 8 + 8 * math.prod(call.args[0].shape[:-1]),
}


def tests(counts, *listed):
    """A question's tests, all with these bounds on what is counted: (name, points, probes, about[, public])."""
    return tuple(
        Test(name, points, probes, bool(public), about, 1e-4 if name == "float32" else None, counts=counts)
        for name, points, probes, about, *public in listed
    )


ASSIGNMENT = Assignment(
    title="The gradients of the four steps, by hand",
    file="a2_gradients.py",
    builds_on=("a1",),
    meter=True,
    questions=(
        Question(
            "scores_backward",
            tests(
                DERIVED,
                ("values", 5, (score_pair,), "queries and keys of one sequence", True),
                ("batch", 6, (score_batch, huge(score_batch)), "batch and head axes in front, huge components"),
                ("shapes", 3, (score_square, score_single), "square inputs, a single query"),
                (
                    "shared",
                    5,
                    (score_shared_keys, score_shared_heads, score_shared_queries, huge(score_shared_keys)),
                    "inputs that broadcast",
                ),
                ("float32", 2, (single(score_batch),), "float32 inputs"),
            ),
            gradient=True,
        ),
        Question(
            "scale_backward",
            tests(
                {},
                ("values", 3, (scale_small,), "a small table", True),
                ("widths", 4, (scale_batch, scale_wide), "other widths, batches"),
                ("float32", 1, (single(scale_batch),), "float32 inputs"),
            ),
            gradient=True,
        ),
        Question(
            "softmax_backward",
            tests(
                DERIVED_SOFTMAX,
                ("rows", 4, (row_pair,), "two rows", True),
                ("batch", 5, (row_batch,), "batch and head axes in front"),
                ("shapes", 3, (row_square, row_single), "square tables, a single row"),
                ("one_key", 2, (row_one_key,), "a single key"),
                ("masked", 3, (row_masked,), "weights of zero, from a mask"),
                ("empty_rows", 3, (row_empty, row_empty_all), "queries that saw no key"),
                ("constant", 3, (row_constant, row_ones), "a gradient that is the same for all keys of a row"),
                ("offset", 2, (row_offset,), "large gradients that differ little"),
                ("saturated", 2, (row_saturated,), "rows in which one weight is nearly 1"),
                ("float32", 1, (single(row_batch),), "float32 inputs"),
            ),
            gradient=True,
        ),
        Question(
            "weighted_sum_backward",
            tests(
                DERIVED,
                ("values", 4, (sum_pair,), "one sequence", True),
                ("batch", 5, (sum_batch, huge_value(sum_batch)), "batch and head axes in front, huge values"),
                ("shapes", 2, (sum_square, sum_single), "square inputs, a single query"),
                ("shared", 5, (sum_shared_values, sum_shared_heads, huge_value(sum_shared_heads)), "shared values"),
                ("float32", 1, (single(sum_batch),), "float32 inputs"),
            ),
            gradient=True,
        ),
        Question(
            "attention_backward",
            tests(
                DERIVED_ATTENTION,
                ("values", 4, (attend_small,), "one sequence, no mask", True),
                ("batch", 4, (attend, attend_batch, attend_square), "batches, square inputs"),
                ("shared", 2, (attend_shared,), "keys and values that all heads share"),
                ("large", 2, (attend_large, attend_offset), "large scores, large values"),
                ("mask", 3, (attend_mask, attend_padding), "a mask"),
                ("empty_rows", 2, (attend_empty,), "a query that sees no key"),
                ("causal_small", 2, (attend_causal_small,), "three tokens, causal", True),
                (
                    "causal",
                    4,
                    (attend_causal, attend_causal_more_keys, attend_causal_more_queries),
                    "causal in batches",
                ),
                ("causal_mask", 2, (attend_causal_mask,), "causal and a mask together"),
                ("float32", 1, (single(attend_batch),), "float32 inputs"),
            ),
            needs=("scores_backward", "scale_backward", "softmax_backward", "weighted_sum_backward"),
            trace=("weighted_sum_backward", "softmax_backward", "scale_backward", "scores_backward"),
            gradient=True,
        ),
    ),
)  # fmt: skip
